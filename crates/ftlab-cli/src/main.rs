//! The program `ftlab`.

#[global_allocator]
static MEMORY: ftlab_memory::Tables = ftlab_memory::Tables::new();

fn main() -> std::process::ExitCode {
    ftlab_cli::run_program()
}
