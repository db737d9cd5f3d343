//! The command installed from its package, and used where there is no checkout: what it needs at run time has to be inside it.
//!
//! A folder of packages, Kiln's own and all others that Cargo's configuration gets, is in the place of the registry.
use crate::package::PACKAGES;
use crate::step::{cargo, root, run, say, Failure};
use kiln_boards::{harness, toolchain, Board};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const BOARD: &str = "qemu-cortex-m4";
const MODEL: &str = "examples/digits/models/digits_int8.tflite";

/// Installs it, removes what it was built from, and uses it. The packages of this workspace have been packed.
pub(crate) fn test() -> Result<(), Failure> {
    let place = Place::new()?;
    place.fill_registry("sources", &[])?;
    place.install()?;
    // A crate that depends on the checkout says which packages one that does not will need.
    let checkout = root().display().to_string();
    let new = ["new", "first", "--board", BOARD, "--model", "digits.tflite", "--kiln-path", &checkout];
    place.kiln("a crate that depends on the checkout", &place.folder, &new)?;
    fs::remove_dir_all(place.folder.join("sources"))?;
    let harness = harness()?.join("Cargo.toml");
    place.fill_registry("registry", &[&harness, &place.folder.join("first/Cargo.toml")])?;
    place.work()?;
    place.lack()
}

/// A folder outside of the checkout, removed when dropped.
struct Place {
    folder: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder left behind does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    fn new() -> Result<Place, Failure> {
        let folder = std::env::temp_dir().join(format!("kiln-installed-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        fs::copy(root().join(MODEL), folder.join("digits.tflite"))?;
        Ok(Place { folder })
    }

    /// Makes a registry of Kiln's packages and all others that this workspace and these manifests need.
    fn fill_registry(&self, name: &str, manifests: &[&Path]) -> Result<(), Failure> {
        configure(&self.folder, name)?;
        let registry = self.folder.join(name);
        // Not in the folder, whose configuration has no packages yet.
        let mut vendor = cargo(&root(), &["vendor", "--quiet", "--versioned-dirs"]);
        vendor.args(manifests.iter().flat_map(|manifest| [Path::new("--sync"), manifest])).arg(&registry);
        // It prints a configuration.
        run("packages of others", vendor.stdout(std::process::Stdio::null()))?;
        for package in PACKAGES {
            let name = format!("{package}-{}", env!("CARGO_PKG_VERSION"));
            let archive = root().join(format!("target/package/{name}.crate"));
            let mut unpack = Command::new("tar");
            let unpacked = unpack.arg("-xzf").arg(&archive).arg("-C").arg(&registry).status()?;
            if !unpacked.success() {
                return Err(format!("{} cannot be unpacked", archive.display()).into());
            }
            fs::write(registry.join(name).join(".cargo-checksum.json"), r#"{"files":{}}"#)?;
        }
        Ok(())
    }

    fn install(&self) -> Result<(), Failure> {
        // Not optimised: compiling takes longer than it runs.
        let mut install =
            cargo(&self.folder, &["install", "cargo-kiln", "--quiet", "--debug", "--root", "."]);
        // It ignores the configuration of the folder that it is called in.
        install.args(["--config", ".cargo/config.toml", "--config", "profile.dev.debug=false"]);
        install.env("CARGO_TARGET_DIR", "target");
        run("cargo install cargo-kiln", &mut install)
    }

    /// What users do with it.
    fn work(&self) -> Result<(), Failure> {
        self.kiln("cargo kiln boards", &self.folder, &["boards"])?;
        self.kiln(
            "cargo kiln new",
            &self.folder,
            &["new", "digits", "--board", BOARD, "--model", "digits.tflite"],
        )?;
        let digits = self.folder.join("digits");
        let manifest = fs::read_to_string(digits.join("Cargo.toml"))?;
        if manifest.contains("path = \"/") {
            return Err(format!("the new crate depends on a folder:\n{manifest}").into());
        }
        let mut firmware = cargo(&digits, &["run", "--release", "--quiet"]);
        toolchain::ensure_target(&Board::find(BOARD)?.target)?.apply(&mut firmware);
        run("the new crate on its board", &mut firmware)?;
        run("tests of the new crate", &mut cargo(&digits, &["host-test", "--quiet"]))?;
        // In a crate whose configuration has the target of a board.
        self.kiln(
            "cargo kiln validate",
            &digits,
            &["validate", "models/digits.tflite", "--on", &format!("host,{BOARD}")],
        )?;
        self.kiln("cargo kiln bench", &self.folder, &["bench", "digits.tflite", "--board", BOARD])
    }

    /// Without packages it says what to do.
    fn lack(&self) -> Result<(), Failure> {
        let folder = self.folder.join("lack");
        fs::create_dir_all(folder.join("nothing"))?;
        configure(&folder, "nothing")?;
        let output = self.command(&folder, &["validate", "../digits.tflite", "--on", "host"]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !said.contains("--kiln-path") {
            return Err(format!("without packages it says:\n{said}").into());
        }
        say("without packages it says what to do");
        Ok(())
    }

    /// Runs the installed command.
    fn kiln(&self, title: &str, folder: &Path, arguments: &[&str]) -> Result<(), Failure> {
        run(title, &mut self.command(folder, arguments))
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut kiln = Command::new(self.folder.join("bin/cargo-kiln"));
        kiln.current_dir(folder).arg("kiln").args(arguments).env_remove("KILN_WORK_DIR");
        kiln
    }
}

/// Has Cargo find all packages in a folder beside its configuration, and nowhere else.
fn configure(folder: &Path, registry: &str) -> Result<(), Failure> {
    fs::create_dir_all(folder.join(".cargo"))?;
    let config = format!(
        "[source.crates-io]\nreplace-with = {registry:?}\n\n[source.{registry}]\ndirectory = {registry:?}\n\n[net]\noffline = true\n"
    );
    Ok(fs::write(folder.join(".cargo/config.toml"), config)?)
}
