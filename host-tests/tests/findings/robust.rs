//! Files that made the compiler panic.

use super::path;
use kiln_codegen::{compile_file, Error, Options};

/// RESIZE_NEAREST_NEIGHBOR of an image without rows.
#[test]
fn an_image_without_rows_is_refused() {
    let error = compile_file(&path("robust/zero_rows.tflite"), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("without elements"), "{error}");
}
