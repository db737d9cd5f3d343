//! Failing graphs as files: `<name>.tflite` or `.onnx`, the runtime's outputs as `<name>.npz`, and in `<name>.txt` what is wrong.

use super::judge::basis;
use super::oracle::Drawn;
use super::Format;
use kiln_codegen::ir::{DType, Graph, ValueId};
use kiln_codegen::{import, Options};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

/// Writes a graph into a folder.
///
/// # Errors
/// Where files cannot be written.
pub fn keep(folder: &Path, name: &str, format: Format, drawn: &Drawn, what: &str) -> Result<(), String> {
    let write = |ending: &str, bytes: &[u8]| {
        let path = folder.join(format!("{name}.{ending}"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    write(format.name(), &drawn.file)?;
    write("txt", format!("{}\n{}\n{what}\n", drawn.title, drawn.signature).as_bytes())?;
    if let Some((_, outputs)) = basis(drawn) {
        // Kiln knows the inputs' types, if it reads the file; a golden file is of no use where it does not.
        if let Ok(graph) = import(&drawn.file, "kept", &Options::default()) {
            write("npz", &golden(&graph, &drawn.inputs, outputs, None)?)?;
        }
    }
    Ok(())
}

/// A golden file: `in_k` and `out_k`, whose first axis counts cases, and `fresh`, if something is said of it.
///
/// # Errors
/// Where the archive is not written.
pub fn golden(
    graph: &Graph,
    inputs: &[Vec<Vec<u8>>],
    outputs: &[Vec<Vec<u8>>],
    fresh: Option<bool>,
) -> Result<Vec<u8>, String> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut add = |prefix: &str, ids: &[ValueId], cases: &[Vec<Vec<u8>>]| -> Result<(), String> {
        for (k, &id) in ids.iter().enumerate() {
            let ty = graph.ty(id);
            let dims: Vec<usize> =
                std::iter::once(cases.len()).chain(ty.shape.dims().iter().copied()).collect();
            let data: Vec<u8> = cases.iter().filter_map(|case| case.get(k)).flatten().copied().collect();
            let name = format!("{prefix}_{k}.npy");
            archive.start_file(name, stored).map_err(|error| error.to_string())?;
            archive.write_all(&array(ty.dtype, &dims, &data)).map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    add("in", &graph.inputs, inputs)?;
    add("out", &graph.outputs, outputs)?;
    if let Some(fresh) = fresh {
        archive.start_file("fresh.npy", stored).map_err(|error| error.to_string())?;
        let array = array(DType::Bool, &[], &[fresh.into()]);
        archive.write_all(&array).map_err(|error| error.to_string())?;
    }
    Ok(archive.finish().map_err(|error| error.to_string())?.into_inner())
}

/// NumPy's format, version 1.
fn array(dtype: DType, dims: &[usize], data: &[u8]) -> Vec<u8> {
    let kind = match dtype {
        DType::I8 => "|i1",
        DType::U8 => "|u1",
        DType::Bool => "|b1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F32 => "<f4",
    };
    let dims: String = dims.iter().map(|dim| format!("{dim}, ")).collect();
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dims}), }}");
    // The magic number and the length are ten bytes, and data begins at a multiple of 64.
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cargo_kiln::golden::Golden;
    use kiln_codegen::ir::Type;

    #[test]
    fn golden_files_are_read_back() {
        let mut graph = Graph::new("same");
        let x = graph.add_input("x", Type::plain(DType::I16, &[3]));
        graph.outputs.push(x);
        let cases = vec![vec![vec![1, 0, 2, 0, 3, 0]], vec![vec![4, 0, 5, 0, 6, 0]]];
        let folder = kiln_boards::work_dir().unwrap().join("differential/tests");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("same.npz");
        fs::write(&path, golden(&graph, &cases, &cases, Some(true)).unwrap()).unwrap();
        let golden = Golden::read(&path).unwrap();
        assert_eq!((golden.inputs.len(), golden.fresh), (2, Some(true)));
        assert_eq!(golden.outputs[1][0].bytes(), [4, 0, 5, 0, 6, 0]);
    }
}
