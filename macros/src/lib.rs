//! `include_model!`: a model file becomes a type while the crate compiles.
//!
//! Used through the `kiln` crate, which re-exports it. The work is done by `kiln_codegen`.

/// Compiles a model into the type of that name.
///
/// ```
/// kiln::include_model!(pub Temporal = "../host-tests/models/tflite/temporal_int8.tflite", ram = "1K");
///
/// const _: () = assert!(Temporal::ARENA_BYTES <= 1024);
///
/// let mut model = Temporal::new();
/// model.input_mut().fill(0);
/// model.invoke();
/// assert_eq!(model.output().len(), 10);
/// ```
///
/// The path is relative to the crate's folder; the crate is rebuilt when the file changes. Options: `optimize` ("speed", "size",
/// "memory"), `ram` and `flash` (budgets: over budget is a compile error), `io` ("native", "quantized"), `weights_section`.
///
/// A model that cannot be compiled is an error at the path, with everything that is wrong with it.
#[proc_macro]
pub fn include_model(arguments: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let expanded = kiln_codegen::include_model(arguments.into(), root.as_ref());
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
