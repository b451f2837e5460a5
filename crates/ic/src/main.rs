//! The program `ic`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_ic::main()
}
