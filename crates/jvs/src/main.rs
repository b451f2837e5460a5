//! The program `jvs`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_jvs::main()
}
