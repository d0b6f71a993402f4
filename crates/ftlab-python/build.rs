//! Lets macOS leave the symbols of Python open, as Linux does anyway: the interpreter that loads the extension has them.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
