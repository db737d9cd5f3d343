//! What a macro has expanded to, kept from one compilation of a crate to the next: an edit beside `include_model!` does not compile the model again.
//!
//! It is kept where rustc keeps what it has compiled of the crate: in the folder that `-C incremental` names, which Cargo gives to debug builds and
//! clears with `cargo clean`. That folder is the only one that is surely meant for it: `OUT_DIR` exists in crates with a build script alone, and
//! nothing says where the target folder is. Where there is none (release builds, CI, rust-analyzer), nothing is kept.
//!
//! A file holds the model's bytes and everything else that the expansion depends on, and is used only where all of it is the same. So no two models are
//! mixed up, and what is damaged or foreign is not used. The compiler itself is one of these things: as the names, sizes and times of the
//! libraries that its macros are in, so that a compiler that was changed is another one.

use super::write_whole;
use crate::Options;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What each file begins with.
const MAGIC: &str = "what Kiln has expanded a macro to\n";

/// Where something is kept, and what it depends on.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    folder: PathBuf,
    /// The compiler, in words.
    compiler: String,
}

/// What an expansion depends on, besides the compiler.
pub(super) struct Depends<'a> {
    /// The model, with its data.
    pub(super) bytes: &'a [u8],
    /// The model's name.
    pub(super) name: &'a str,
    pub(super) options: &'a Options,
}

impl Keeper {
    /// For the crate that is being compiled, where this is the process of rustc, and it compiles incrementally.
    pub(super) fn of_process() -> Option<Keeper> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        Self::of(&arguments, &std::env::var("CARGO_CRATE_NAME").ok()?)
    }

    /// For a crate of that name and the arguments of rustc.
    fn of(arguments: &[OsString], crate_name: &str) -> Option<Keeper> {
        let values = |wanted: &'static str| {
            arguments.iter().filter_map(move |argument| argument.to_str()?.strip_prefix(wanted))
        };
        let incremental = PathBuf::from(values("incremental=").next_back()?);
        let mut libraries: Vec<String> =
            values("dependency=").flat_map(|folder| libraries(folder.as_ref())).collect();
        libraries.sort();
        // Without them, nothing says whether the compiler is the same.
        (incremental.is_absolute() && !libraries.is_empty()).then(|| Keeper {
            folder: incremental.join("kiln").join(crate_name),
            compiler: format!("{}\n{}", env!("CARGO_PKG_VERSION"), libraries.join("\n")),
        })
    }

    /// What was kept for the same model, options and compiler; or else what `make` makes, which is kept then. It is a pair of a visible `use`, without its visibility, and a module.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn or<E>(
        &self,
        depends: &Depends<'_>,
        make: impl FnOnce() -> Result<TokenStream, E>,
    ) -> Result<TokenStream, E> {
        let (file, key) = (self.file(depends), self.key(depends));
        if let Some(kept) = std::fs::read(&file).ok().and_then(|file| read(&file, &key, depends.bytes)) {
            return Ok(kept);
        }
        let made = make()?;
        // It is as good without.
        let _ = std::fs::create_dir_all(&self.folder)
            .is_ok_and(|()| write_whole(&file, written(&key, depends.bytes, &made.to_string())).is_ok());
        Ok(made)
    }

    /// A type of a crate has one file: what was kept for another model or with other options gives way.
    fn file(&self, depends: &Depends<'_>) -> PathBuf {
        let ty = depends.options.name.as_deref().unwrap_or(depends.name);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        self.folder.join(ty.chars().map(plain).collect::<String>())
    }

    /// Everything but the model's bytes.
    fn key(&self, depends: &Depends<'_>) -> String {
        format!("{}\n{:?}\n{:?}", self.compiler, depends.name, depends.options)
    }
}

/// The libraries of Kiln's macros in a folder: name, size and time of each.
fn libraries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let described = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_library = [".so", ".dylib", ".dll"].iter().any(|ending| name.ends_with(ending));
        if !name.contains("kiln_macros") || !is_library {
            return None;
        }
        let about = entry.metadata().ok()?;
        let time = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{name} {} {}", about.len(), time.as_nanos()))
    });
    described.collect()
}

/// A file: what its parts measure, with their checksum, and the parts.
fn written(key: &str, bytes: &[u8], code: &str) -> Vec<u8> {
    let mut head = MAGIC.to_owned();
    // Writing to a string cannot fail.
    let _ = writeln!(head, "{} {} {} {:016x}", key.len(), bytes.len(), code.len(), checksum(code.as_bytes()));
    [head.as_bytes(), key.as_bytes(), bytes, code.as_bytes()].concat()
}

/// The code in a file, if it is of this key and these bytes.
fn read(file: &[u8], key: &str, bytes: &[u8]) -> Option<TokenStream> {
    let rest = file.strip_prefix(MAGIC.as_bytes())?;
    let end = rest.iter().take(100).position(|&byte| byte == b'\n')?;
    let (head, rest) = (std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]);
    let rest = rest.strip_prefix(key.as_bytes())?.strip_prefix(bytes)?;
    let code = std::str::from_utf8(rest).ok()?;
    let expected = format!("{} {} {} {:016x}", key.len(), bytes.len(), code.len(), checksum(rest));
    (head == expected).then_some(code)?.parse().ok()
}

/// Not against forgers: whoever writes there can write the crate's code as well. Words at a time, since macros of debug builds are not optimised.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut sum = mix(0, bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = mix(sum, u64::from_le_bytes(word));
    }
    sum
}

/// Code that begins with a `use` behind attributes, with its visibility: that stands where the user wrote it, and is not kept.
pub(super) fn with_visibility(code: TokenStream, vis: &TokenStream) -> TokenStream {
    let mut tokens = code.into_iter().peekable();
    let is_use = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "use");
    let mut attributes = TokenStream::new();
    while let Some(token) = tokens.next_if(|token| !is_use(token)) {
        attributes.extend([token]);
    }
    let rest: TokenStream = tokens.collect();
    quote!(#attributes #vis #rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("kiln-kept-{name}-{}", std::process::id()));
            std::fs::create_dir_all(folder.join("deps")).unwrap();
            Folder(folder)
        }

        fn keeper(&self) -> Option<Keeper> {
            let incremental = format!("incremental={}", self.0.join("incremental").display());
            let dependency = format!("dependency={}", self.0.join("deps").display());
            Keeper::of(&["rustc", "-C", &incremental, "-L", &dependency].map(OsString::from), "krate")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn what_is_the_same_is_made_once() {
        let folder = Folder::new("once");
        assert!(folder.keeper().is_none(), "nothing says which compiler it is");
        let library = folder.0.join("deps/libkiln_macros-1234.so");
        std::fs::write(&library, "a compiler").unwrap();
        let keeper = folder.keeper().unwrap();
        let made = Cell::new(0);
        let expand = |keeper: &Keeper, bytes: &[u8], options: &Options| {
            let depends = Depends { bytes, name: "model", options };
            let make = || -> Result<TokenStream, ()> {
                made.set(made.get() + 1);
                let (count, weights) = (made.get(), proc_macro2::Literal::byte_string(bytes));
                Ok(
                    quote!(#[allow(unreachable_pub)] use m::M; mod m { const N: [i32; 2] = [#count, -1]; /** text */ const W: &[u8] = #weights; }),
                )
            };
            let found = keeper.or(&depends, make).unwrap().to_string();
            (made.take(), found)
        };
        let options = Options { name: Some("M".into()), ..Options::default() };
        let (times, first) = expand(&keeper, b"one\x00\xff\"", &options);
        assert_eq!(times, 1);
        let again = expand(&keeper, b"one\x00\xff\"", &options);
        assert_eq!(again, (0, first.clone()));

        let other = Options { ram: Some(1), ..options.clone() };
        for (bytes, options) in
            [(&b"two\x00\xff\""[..], &options), (b"two\x00\xff\"", &other), (b"one\x00\xff\"", &options)]
        {
            assert_eq!(expand(&keeper, bytes, options).0, 1);
            assert_eq!(expand(&keeper, bytes, options).0, 0);
        }
        let files = || std::fs::read_dir(folder.0.join("incremental/kiln/krate")).unwrap().count();
        assert_eq!(files(), 1);
        std::fs::write(&library, "another compiler").unwrap();
        let changed = folder.keeper().unwrap();
        assert_eq!(expand(&changed, b"one\x00\xff\"", &options).0, 1);
    }

    #[test]
    fn what_is_damaged_or_foreign_is_not_used() {
        let code = "use m :: M ; mod m { }";
        let file = written("key", b"model", code);
        assert_eq!(
            read(&file, "key", b"model").unwrap().to_string(),
            code.parse::<TokenStream>().unwrap().to_string()
        );
        assert!(read(&file, "key", b"modem").is_none() && read(&file, "kez", b"model").is_none());
        // Not even where the boundary between both lies elsewhere.
        assert!(read(&file, "keym", b"odel").is_none());
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 1;
            assert!(read(&other, "key", b"model").is_none(), "{at}");
            assert!(read(&file[..at], "key", b"model").is_none(), "{at}");
        }
        for foreign in [&b""[..], MAGIC.as_bytes(), b"\xff\xff", b"what Kiln has expanded a macro to\n1 2"] {
            assert!(read(foreign, "key", b"model").is_none());
        }
        let longer = [&file[..], b" "].concat();
        assert!(read(&longer, "key", b"model").is_none());
    }

    #[test]
    fn nothing_is_kept_outside_of_an_incremental_compilation() {
        let folder = Folder::new("none");
        std::fs::write(folder.0.join("deps/kiln_macros.dll"), "a compiler").unwrap();
        let dependency = format!("dependency={}", folder.0.join("deps").display());
        let of = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            Keeper::of(&arguments, "krate")
        };
        assert!(of(&["rustc", "-L", &dependency]).is_none());
        assert!(of(&["rustc", "-L", &dependency, "-C", "incremental=somewhere"]).is_none());
        assert!(folder.keeper().is_some());
    }

    #[test]
    fn the_visibility_is_the_users() {
        let code = quote!(
            #[allow(unreachable_pub)]
            use m::M;
            mod m {
                pub use a::b;
            }
        );
        let found = with_visibility(code, &quote!(pub(crate))).to_string();
        assert_eq!(
            found,
            quote!(
                #[allow(unreachable_pub)]
                pub(crate) use m::M;
                mod m {
                    pub use a::b;
                }
            )
            .to_string()
        );
    }
}
