//! The program `kc_cli`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_kc::main()
}
