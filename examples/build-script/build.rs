//! Compiles the model: to `tumour.rs` in `OUT_DIR`, which `kiln::include_compiled!(tumour)` includes.

fn main() -> Result<(), kiln_codegen::Error> {
    // An error ends the build with its message: what is wrong with the model, or how many bytes are over budget.
    kiln_codegen::Build::new("models/tumour.tflite").ram(1024).flash(4 * 1024).compile()?;
    Ok(())
}
