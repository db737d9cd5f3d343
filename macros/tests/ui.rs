//! What the compiler says about models that cannot be compiled. `TRYBUILD=overwrite` blesses the messages.
//!
//! The cases are compiled as a package under `target/tests/trybuild`, and name their models from there.

#[test]
fn compile_errors() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
