//! The program `jit`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_jit::main()
}
