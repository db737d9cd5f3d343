//! Generated code: many models in one program, so that the compiler starts seldom.

use kiln_codegen::ir::{Data, Graph};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

const PROGRAM: &str = include_str!("program.rs");

/// The longest that the models of a program may take together.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Outputs of every case, `[case][k]`, or what went wrong.
pub type Outcome = Result<Vec<Vec<Data>>, String>;

/// A model that waits to be built.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// As imported.
    pub graph: Arc<Graph>,
    /// The generated module.
    pub code: String,
    /// What it is run on.
    pub cases: Vec<Vec<Data>>,
}

/// A folder in which programs are built, one after the other.
#[derive(Debug)]
pub struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// One of that name.
    ///
    /// # Errors
    /// Where its files cannot be written.
    pub fn open(name: &str) -> Result<Workshop, String> {
        let work = kiln_boards::work_dir().map_err(|error| error.to_string())?;
        let folder = work.join("differential").join(name);
        let shop = Workshop { folder };
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-nostd");
        let runtime = runtime.canonicalize().map_err(|error| error.to_string())?;
        shop.write("Cargo.toml", &manifest(&runtime))?;
        shop.write("src/main.rs", PROGRAM)?;
        Ok(shop)
    }

    /// Runs models as generated code: the outputs of every case, or what went wrong.
    ///
    /// # Errors
    /// Where the compiler does not run.
    pub fn run(&self, models: &[Waiting]) -> Result<Vec<Outcome>, String> {
        let mut results: Vec<Option<Outcome>> = vec![None; models.len()];
        self.build(models, &mut results)?;
        loop {
            let left: Vec<usize> = (0..models.len()).filter(|&k| results[k].is_none()).collect();
            if left.is_empty() {
                break;
            }
            let file: Vec<u8> = left.iter().flat_map(|&k| models[k].to_bytes(k)).collect();
            fs::write(self.folder.join("cases.bin"), file).map_err(|error| error.to_string())?;
            // What it leaves behind from an earlier run is none of its own.
            let _ = fs::remove_file(self.folder.join("outputs.bin"));
            let ended = self.start()?;
            let outputs = fs::read(self.folder.join("outputs.bin")).unwrap_or_default();
            let before = results.iter().flatten().count();
            take(&outputs, models, &ended, &mut results);
            if results.iter().flatten().count() == before {
                return Err(format!("the program of generated code says nothing: {ended}"));
            }
        }
        Ok(results.into_iter().map(|result| result.unwrap_or_else(|| Err("it did not run".into()))).collect())
    }

    /// Builds the program of those that compile; those that do not have their result afterwards.
    fn build(&self, models: &[Waiting], results: &mut [Option<Outcome>]) -> Result<(), String> {
        for (k, model) in models.iter().enumerate() {
            self.write(&format!("src/models/g{k}.rs"), &model.code)?;
        }
        loop {
            let left: Vec<usize> = (0..models.len()).filter(|&k| results[k].is_none()).collect();
            self.write("src/models/list.rs", &list(&left, models.len()))?;
            let built = self.cargo().map_err(|error| format!("cargo does not start: {error}"))?;
            if built.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            let wrong: Vec<usize> =
                left.iter().copied().filter(|k| said.contains(&format!("models/g{k}.rs"))).collect();
            if wrong.is_empty() {
                return Err(format!("generated code does not compile:\n{said}"));
            }
            for k in wrong {
                let place = said.find(&format!("models/g{k}.rs")).unwrap_or(0);
                let begin = said[..place].rfind("error").unwrap_or(0);
                let why: String = said[begin..].chars().take(600).collect();
                results[k] = Some(Err(format!("generated code does not compile: {why}")));
            }
        }
    }

    fn cargo(&self) -> io::Result<Output> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // Of this crate's own build, which may be run by Cargo.
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
            command.env_remove(variable);
        }
        command.current_dir(&self.folder).args(["build", "--quiet", "--target-dir", "target"]).output()
    }

    /// Runs the program: how it ended.
    fn start(&self) -> Result<String, String> {
        let program = self.folder.join("target/debug/program");
        let mut child = Command::new(program)
            .current_dir(&self.folder)
            .stderr(std::process::Stdio::null())
            .spawn()
            .map_err(|error| format!("the program of generated code does not start: {error}"))?;
        let began = std::time::Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status.to_string()),
                Ok(None) if began.elapsed() < TIME_LIMIT => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    // It may have ended by itself meanwhile.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(format!("it runs for over {} s", TIME_LIMIT.as_secs()));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        let write = |path: &Path| {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::write(path, text)
        };
        write(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

impl Waiting {
    fn to_bytes(&self, number: usize) -> Vec<u8> {
        let inputs: Vec<u8> = self.cases.iter().flatten().flat_map(|data| data.bytes().to_vec()).collect();
        let words = [number, self.cases.len(), inputs.len()];
        words.iter().flat_map(|&word| (word as u32).to_le_bytes()).chain(inputs).collect()
    }

    fn outputs(&self, bytes: &[u8]) -> Outcome {
        let sizes: Vec<usize> = self.graph.outputs.iter().map(|&id| self.graph.ty(id).bytes()).collect();
        if bytes.len() != sizes.iter().sum::<usize>() * self.cases.len() {
            return Err("generated code has outputs of other sizes than the interpreter".into());
        }
        let mut rest = bytes;
        let mut one = |&size: &usize| {
            let (own, others) = rest.split_at(size);
            rest = others;
            Data::new(own)
        };
        Ok(self.cases.iter().map(|_| sizes.iter().map(&mut one).collect()).collect())
    }
}

/// Reads what the program wrote. The last model, if it has no outputs, ended the process.
fn take(mut outputs: &[u8], models: &[Waiting], ended: &str, results: &mut [Option<Outcome>]) {
    let word = |bytes: &mut &[u8]| {
        let (word, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u32::from_le_bytes(*word) as usize)
    };
    while let Some(number) = word(&mut outputs) {
        let mut own = || {
            let (&status, rest) = outputs.split_first()?;
            outputs = rest;
            let length = word(&mut outputs)?;
            let (bytes, rest) = outputs.split_at_checked(length)?;
            outputs = rest;
            Some((status, bytes))
        };
        let (Some(model), Some(result)) = (models.get(number), results.get_mut(number)) else { return };
        *result = Some(match own() {
            Some((1, bytes)) => model.outputs(bytes),
            Some(_) => Err("generated code panics".into()),
            None => Err(format!("generated code ends its process: {ended}")),
        });
    }
}

fn manifest(runtime: &Path) -> String {
    format!(
        "[package]\n\
         name = \"program\"\n\
         version = \"0.0.0\"\n\
         edition = \"2021\"\n\
         \n\
         [dependencies]\n\
         kiln-nn = {{ path = {runtime:?}, default-features = false }}\n\
         \n\
         [profile.dev]\n\
         opt-level = 0\n\
         debug = false\n\
         incremental = false\n\
         overflow-checks = true\n\
         codegen-units = 1\n\
         \n\
         [profile.dev.package.\"*\"]\n\
         opt-level = 1\n\
         \n\
         [workspace]\n"
    )
}

/// The modules of these models, and a table by number.
fn list(models: &[usize], count: usize) -> String {
    let mut text = String::new();
    for k in models {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#[path = \"g{k}.rs\"]\n#[allow(dead_code)]\nmod g{k};");
    }
    text += "type Run = fn(usize, &mut &[u8]) -> Vec<u8>;\nconst MODELS: &[Run] = &[\n";
    for k in 0..count {
        let _ = match models.contains(&k) {
            true => {
                writeln!(text, "    |count, cases| run(&mut *Box::new(g{k}::Network::new()), count, cases),")
            }
            false => writeln!(text, "    |_, _| Vec::new(),"),
        };
    }
    text + "];\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_no_module() {
        let text = list(&[0, 2], 3);
        assert!(text.contains("mod g0;") && !text.contains("g1") && text.contains("g2::Network::new()"));
        assert_eq!(text.matches("|_, _|").count(), 1);
    }

    #[test]
    fn who_ends_the_process_is_known() {
        let graph = Arc::new(Graph::new("none"));
        let waiting = Waiting { graph, code: String::new(), cases: Vec::new() };
        let (models, mut results) = (vec![waiting; 3], vec![None; 3]);
        let words = [0u32.to_le_bytes().to_vec(), vec![1], vec![0; 4], 1u32.to_le_bytes().to_vec()].concat();
        take(&words, &models, "signal: 11", &mut results);
        assert_eq!(results[0], Some(Ok(Vec::new())));
        assert_eq!(results[1], Some(Err("generated code ends its process: signal: 11".into())));
        assert_eq!(results[2], None);
    }
}
