//! The program `ftlab`.

fn main() -> std::process::ExitCode {
    ftlab_cli::run_program()
}
