//! The least that a program can do: the floor for every program of ours.

fn main() {}
