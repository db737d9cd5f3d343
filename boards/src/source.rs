//! Where Kiln's own crates come from. Every manifest that is written asks here.
use crate::Error;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A crate of Kiln that written crates depend on.
#[derive(Debug, Clone, Copy)]
pub struct Crate {
    package: &'static str,
    /// In a checkout.
    folder: &'static str,
}

/// The runtime, whose library is `kiln`.
pub const RUNTIME: Crate = Crate { package: "kiln-nn", folder: "runtime-nostd" };
/// `assert_equivalent!`, whose library is `kiln_test`.
pub const TEST: Crate = Crate { package: "kiln-nn-test", folder: "kiln-test" };

/// Which releases will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// That of this version alone: for programs whose figures are said to be this version's.
    This,
    /// This version and later ones that are compatible: for crates of users.
    Compatible,
}

/// Where Kiln's crates come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The checkout in that folder.
    Checkout(PathBuf),
    /// A registry, or what Cargo's configuration has in its place.
    Registry,
}

/// What [`Source::prefer`] was told.
static PREFERRED: OnceLock<Source> = OnceLock::new();

impl Source {
    /// What was preferred; otherwise the checkout that this program was built in, if it is still there; otherwise the registry.
    pub fn find() -> Source {
        PREFERRED.get().cloned().unwrap_or_else(|| own_checkout().map_or(Source::Registry, Source::Checkout))
    }

    /// The checkout in a folder that somebody named.
    ///
    /// # Errors
    /// Where there is no such folder, or another thing in it.
    pub fn named(folder: &Path) -> Result<Source, Error> {
        let root = folder.canonicalize().map_err(crate::error::at(folder))?;
        match is_checkout(&root) {
            true => Ok(Source::Checkout(root)),
            false => Err(Error::NoCheckout { folder: root }),
        }
    }

    /// Has [`Source::find`] answer this one, in this process. The first call counts.
    pub fn prefer(self) {
        let _ = PREFERRED.set(self);
    }

    /// The line of a manifest by which a crate depends on one of Kiln's: `more` are further keys, as `default-features = false`.
    pub fn dependency(&self, krate: Crate, releases: Releases, more: &[&str]) -> String {
        let Crate { package, folder } = krate;
        let version = match releases {
            Releases::This => concat!("=", env!("CARGO_PKG_VERSION")),
            Releases::Compatible => env!("CARGO_PKG_VERSION"),
        };
        let place = match self {
            Source::Checkout(root) => format!("path = {:?}", root.join(folder)),
            Source::Registry if more.is_empty() => return format!("{package} = {version:?}"),
            Source::Registry => format!("version = {version:?}"),
        };
        let keys: Vec<&str> = std::iter::once(place.as_str()).chain(more.iter().copied()).collect();
        format!("{package} = {{ {} }}", keys.join(", "))
    }

    /// What to do where Cargo cannot get a package.
    pub(crate) fn help(&self) -> String {
        const OTHERS: &str = "Cargo needs a registry once, or a copy of the packages (`cargo vendor`) that its configuration names.";
        match self {
            Source::Checkout(_) => OTHERS.to_owned(),
            Source::Registry => format!(
                "Kiln's own crates are taken from the registry, in version {}, because the checkout that this program was built in \
                 is gone or there was none. `--kiln-path FOLDER` names a checkout to take them from. For all others {OTHERS}",
                env!("CARGO_PKG_VERSION")
            ),
        }
    }
}

/// The checkout that this crate was compiled in, if it is still there.
pub(crate) fn own_checkout() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    is_checkout(root).then(|| root.to_owned())
}

fn is_checkout(root: &Path) -> bool {
    [RUNTIME, TEST].iter().all(|krate| root.join(krate.folder).join("Cargo.toml").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_a_path_and_a_release_a_version() {
        let checkout = Source::Checkout("/kiln".into());
        assert_eq!(
            checkout.dependency(RUNTIME, Releases::This, &[]),
            "kiln-nn = { path = \"/kiln/runtime-nostd\" }"
        );
        assert_eq!(
            checkout.dependency(TEST, Releases::Compatible, &["optional = true"]),
            "kiln-nn-test = { path = \"/kiln/kiln-test\", optional = true }"
        );
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            Source::Registry.dependency(RUNTIME, Releases::Compatible, &[]),
            format!("kiln-nn = \"{version}\"")
        );
        assert_eq!(
            Source::Registry.dependency(RUNTIME, Releases::This, &["default-features = false"]),
            format!("kiln-nn = {{ version = \"={version}\", default-features = false }}")
        );
    }

    #[test]
    fn a_folder_is_a_checkout_or_not() {
        let Some(root) = own_checkout() else { panic!("tests run in a checkout") };
        assert_eq!(Source::find(), Source::Checkout(root.clone()));
        assert_eq!(Source::named(&root).unwrap(), Source::Checkout(root.canonicalize().unwrap()));
        assert!(!is_checkout(Path::new("/registry/src/index")));
        let message = Source::named(&root.join("boards")).unwrap_err().to_string();
        assert!(message.contains("is no checkout of Kiln"), "{message}");
    }
}
