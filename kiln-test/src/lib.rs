//! Checks generated code against the interpreter, in a crate's own tests
