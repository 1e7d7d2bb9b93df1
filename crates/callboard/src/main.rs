//! Callboard.
fn main() {}
