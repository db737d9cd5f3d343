//! An edit beside `include_model!` does not compile the model again in a debug build, and takes less than a second. A model that changed is compiled.

use kiln_host_tests::corpus_folder;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// An edit may take so many seconds of a processor, Cargo and rustc together.
const LIMIT: f64 = 1.0;

/// Of those with less than 2 MB, the ones that take longest to compile.
const SLOW: [&str; 3] = ["lyra_soundstream_encoder", "face_landmarks_192_int8", "mobilenet_v2_035_160_int8"];

/// A crate with a model, and nothing else.
struct Crate(PathBuf);

impl Crate {
    fn new(name: &str) -> Crate {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = root.join("target/kiln/edits").join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2021\"\n[dependencies]\nkiln-nn = {{ path = {:?} }}\n[workspace]\n",
            root.join("runtime-nostd")
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let _ = fs::remove_file(folder.join("../target/debug/incremental/kiln").join(name).join("Net"));
        Crate(folder)
    }

    /// Writes the library, and checks it; what rustc complains of.
    fn check(&self, more: &str) -> Result<(), String> {
        let code = format!("#![no_std]\nkiln::include_model!(pub Net = \"net.tflite\");\n{more}\n");
        let file = self.0.join("src/lib.rs");
        // Where nothing is edited, Cargo shall not see an edit.
        if fs::read_to_string(&file).ok().as_ref() != Some(&code) {
            fs::write(file, code).unwrap();
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&self.0).args(["check", "--quiet", "--target-dir", "../target"]);
        // As for a developer, not as in CI.
        cargo.env("CARGO_INCREMENTAL", "1");
        let output = cargo.output().unwrap();
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn model(&self, bytes: &[u8]) {
        fs::write(self.0.join("net.tflite"), bytes).unwrap();
    }

    /// What was kept of the expansion.
    fn kept(&self) -> PathBuf {
        let name = self.0.file_name().unwrap();
        self.0.join("../target/debug/incremental/kiln").join(name).join("Net")
    }

    fn written(&self) -> SystemTime {
        fs::metadata(self.kept()).unwrap().modified().unwrap()
    }
}

#[test]
fn only_a_model_that_changed_is_compiled_again() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let digits = fs::read(models.join("digits/models/digits_int8.tflite")).unwrap();
    let wake = fs::read(models.join("wake-digit/models/wake_digit_int8.tflite")).unwrap();
    let edits = Crate::new("edits");
    edits.model(&digits);
    edits.check("").unwrap();
    let (first, code) = (edits.written(), fs::read(edits.kept()).unwrap());

    // What is kept is what the next compilation takes: it is not written again, and means the same.
    edits.check("const _: () = assert!(Net::INPUT.shape[1] == 8);").unwrap();
    assert_eq!(edits.written(), first);
    let error = edits.check("const _: () = assert!(Net::INPUT.shape[1] == 10);").unwrap_err();
    assert!(error.contains("evaluation panicked") || error.contains("assertion failed"), "{error}");
    assert_eq!(edits.written(), first);

    // Cargo sees that the model is another one, without an edit.
    let code_for_both = "pub fn run(net: &mut Net) { net.invoke(); }";
    edits.check(code_for_both).unwrap();
    assert_eq!(edits.written(), first);
    edits.model(&wake);
    edits.check(code_for_both).unwrap();
    assert_ne!(edits.written(), first);
    edits.check("const _: () = assert!(Net::INPUT.shape[1] == 10);").unwrap();
    edits.model(&digits);
    edits.check("const _: () = assert!(Net::INPUT.shape[1] == 8);").unwrap();
    assert_eq!(fs::read(edits.kept()).unwrap(), code, "the same model gives the same code");

    // What is damaged is not used.
    let mut damaged = code.clone();
    let at = damaged.len() - 100;
    damaged[at] ^= 1;
    fs::write(edits.kept(), &damaged).unwrap();
    edits.check("const _: () = assert!(Net::INPUT.shape[1] == 8); // again").unwrap();
    assert_eq!(fs::read(edits.kept()).unwrap(), code);

    let Some(_) = children_seconds() else {
        println!("no /proc here: the time of an edit was not measured");
        return;
    };
    let Some(corpus) = corpus_folder() else {
        println!("KILN_CORPUS is not set: the time of an edit was not measured");
        return;
    };
    for name in SLOW {
        edits.model(&fs::read(corpus.join(format!("tflite/{name}.tflite"))).unwrap());
        let time = |edit: u32| {
            let before = children_seconds().unwrap();
            edits.check(&format!("pub const EDIT: u32 = {edit};")).unwrap();
            children_seconds().unwrap() - before
        };
        let times: Vec<f64> = (0..4).map(time).collect();
        println!("{name}: {:.2} s with the model, {:.2?} s for an edit", times[0], &times[1..]);
        assert!(times[1..].iter().all(|&time| time < LIMIT), "{name}: {times:?}");
    }
}

/// Seconds of a processor that processes have taken which were started here and have ended, and those that they started.
fn children_seconds() -> Option<f64> {
    /// Linux counts in hundredths of a second for programs.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the program's name, which may hold anything: `cutime` and `cstime` are the fields 16 and 17.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / TICKS)
}
