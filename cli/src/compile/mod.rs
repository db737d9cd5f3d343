//! `cargo kiln compile`: files to check in, and whether they are what would be written now.

mod header;

use anyhow::{Context, Result};
use header::Header;
use kiln_codegen::{compile, model_name, read_file, write_all_whole, Compiled, Options};
use quote::quote;
use std::path::{Path, PathBuf};

/// The Rust of a model, with the file that it reads its data from, if the data is not in the code.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The model.
    pub compiled: Compiled,
    /// The file of code.
    pub code: String,
    /// What stands in the file beside it.
    pub data: Option<Vec<u8>>,
}

/// Compiles a model to the file `output`. The data is in `output` with the ending `bin`; or in the code, if it is `inline` or there is no data.
///
/// # Errors
/// Those of the compiler.
pub fn generate(model: &Path, options: &Options, output: &Path, inline: bool) -> Result<Generated> {
    let bytes = read_file(model)?;
    let compiled = compile(&bytes, &model_name(model), options)?;
    let data = Some(compiled.data()).filter(|data| !inline && !data.is_empty());
    let name = data.as_ref().map(|_| file_name(&data_file(output)));
    let header = Header::new(&file_name(model), &bytes, options, name.as_deref());
    let code = compiled.source_file(&quote!(pub), name.as_deref())?;
    Ok(Generated { code: format!("{}\n{header}\n{code}", compiled.generated()), data, compiled })
}

impl Generated {
    /// Writes the files: both, or none.
    ///
    /// # Errors
    /// Where one cannot be written.
    pub fn write(&self, output: &Path) -> Result<()> {
        let data_path = data_file(output);
        let data = self.data.as_deref().map(|data| (data_path.as_path(), data));
        let files: Vec<(&Path, &[u8])> = data.into_iter().chain([(output, self.code.as_bytes())]).collect();
        Ok(write_all_whole(&files)?)
    }

    /// What is different in the files that are there; nothing where they are what [`Generated::write`] would write.
    ///
    /// # Errors
    /// Where a file that is there cannot be read.
    pub fn differences(&self, output: &Path) -> Result<Vec<String>> {
        let Some(code) = read(output)? else {
            return Ok(vec![format!("`{}` is not there", output.display())]);
        };
        // As Git leaves it on Windows.
        let code = String::from_utf8_lossy(&code).replace("\r\n", "\n");
        let mut differences = match Header::read(&code) {
            None => vec![format!("`{}` has no header of `cargo kiln compile`", output.display())],
            Some(there) => there.differences(&Header::read(&self.code).unwrap_or_default()),
        };
        if differences.is_empty() && code != self.code {
            differences.push("code: it was edited, or another build of Kiln wrote it".into());
        }
        if let Some(data) = &self.data {
            let path = data_file(output);
            match read(&path)? {
                Some(there) if there == *data => {}
                Some(_) if !differences.is_empty() => {}
                Some(_) => differences.push(format!("data: `{}` has other bytes", path.display())),
                None => differences.push(format!("data: `{}` is not there", path.display())),
            }
        }
        Ok(differences)
    }
}

/// The file with the data of the code in a file.
fn data_file(output: &Path) -> PathBuf {
    output.with_extension("bin")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The bytes of a file, if it is there.
fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        bytes => Ok(Some(bytes.with_context(|| format!("cannot read `{}`", path.display()))?)),
    }
}
