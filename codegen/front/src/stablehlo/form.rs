//! How the forms of a module are told apart.

use super::export;
use kiln_ir::error::Error;

/// How bytecode begins.
pub(super) const MAGIC: &[u8] = b"ML\xefR";

/// Whether the bytes begin as MLIR's bytecode does.
pub(super) fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Whether the bytes are a file of `jax.export` with bytecode in it.
pub(super) fn is_jax_export(bytes: &[u8]) -> bool {
    export::payload(bytes).is_some()
}

/// The bytecode in a file of `jax.export`.
///
/// # Errors
/// [`Error::Malformed`] if there is none.
pub(super) fn jax_payload(bytes: &[u8]) -> Result<&[u8], Error> {
    export::payload(bytes).ok_or_else(export::damaged)
}

/// Whether bytes look like a module in MLIR's text.
pub(super) fn is_stablehlo_text(bytes: &[u8]) -> bool {
    let rest = behind_comments(bytes);
    let begins = |with: &str| rest.starts_with(with.as_bytes());
    if let Some(rest) = rest.strip_prefix(b"module") {
        let is_apart = rest.first().is_some_and(u8::is_ascii_whitespace);
        let rest = rest.trim_ascii_start();
        return is_apart
            && (rest.starts_with(b"@") || rest.starts_with(b"attributes") || rest.starts_with(b"{"));
    }
    let is_alias = matches!(rest.first(), Some(b'#' | b'!')) && {
        let name =
            rest[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte)).count();
        name > 0 && rest[1 + name..].starts_with(b" = ")
    };
    is_alias
        || ["\"builtin.module\"", "builtin.module", "func.func ", "\"func.func\""].into_iter().any(begins)
}

/// Whether bytes look like XLA's HLO text.
pub(super) fn is_hlo_text(bytes: &[u8]) -> bool {
    let rest = behind_comments(bytes);
    rest.strip_prefix(b"HloModule").and_then(|rest| rest.first()).is_some_and(u8::is_ascii_whitespace)
}

/// What stands behind comments and empty lines.
fn behind_comments(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    // Comments and empty lines in front.
    loop {
        rest = rest.trim_ascii_start();
        if !rest.starts_with(b"//") {
            break;
        }
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
    }
    rest
}
