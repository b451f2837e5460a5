//! The program `jit-board`: everything is in the library.

fn main() -> std::process::ExitCode {
    holdfast_board::main()
}
