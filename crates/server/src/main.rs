//! The program `jit-server`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_server::main()
}
