//! The experiments are built into the program: a new file among them must build it anew.

fn main() {
    println!("cargo::rerun-if-changed=../../experiments");
}
