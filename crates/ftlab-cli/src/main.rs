//! The program `ftlab`.

#[global_allocator]
static MEMORY: ftlab_memory::TableAllocator = ftlab_memory::TableAllocator::new();

fn main() -> std::process::ExitCode {
    ftlab_cli::run_program()
}
