//! Constants of ONNX models that lie in other files.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::Data;
use kiln_codegen::{compile, compile_file, front, import, include_model, read_file, Options};
use quote::quote;
use std::path::{Path, PathBuf};

/// A folder that is removed with its contents.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kiln-data-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("parts")).unwrap();
        Folder(path.canonicalize().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A field of bytes in a message.
fn field(number: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    let len = bytes.len();
    let mut message = vec![number << 3 | 2];
    match len {
        0..=127 => message.push(len as u8),
        _ => message.extend([len as u8 | 0x80, (len >> 7) as u8]),
    }
    message.extend_from_slice(bytes);
    message
}

/// A field of a small integer.
fn int(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// A constant of floats, whose data is where the entries say.
fn constant(name: &str, dims: &[u8], entries: &[(&str, &str)]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&dim| int(1, dim)).collect();
    let entries =
        entries.iter().flat_map(|(key, value)| field(13, [field(1, key), field(2, value)].concat()));
    [dims, int(2, 1), field(8, name), entries.collect(), int(14, 1)].concat()
}

/// y = x·w + b, for two numbers x and three numbers y. `w` and `b` say where their data is.
fn model(w: &[(&str, &str)], b: &[(&str, &str)]) -> Vec<u8> {
    let value = |name: &str, dims: [u8; 2]| {
        let dims = dims.map(|dim| field(1, int(1, dim))).concat();
        let tensor = field(1, [int(1, 1), field(2, dims)].concat());
        [field(1, name), field(2, tensor)].concat()
    };
    let node = |op: &str, inputs: [&str; 2], output: &str| {
        [field(1, inputs[0]), field(1, inputs[1]), field(2, output), field(4, op)].concat()
    };
    let graph = [
        field(1, node("MatMul", ["x", "w"], "xw")),
        field(1, node("Add", ["xw", "b"], "y")),
        field(5, constant("w", &[2, 3], w)),
        field(5, constant("b", &[3], b)),
        field(11, value("x", [1, 2])),
        field(12, value("y", [1, 3])),
    ];
    [int(1, 8), field(7, graph.concat()), field(8, int(2, 17))].concat()
}

const W: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const B: [f32; 3] = [0.5, -0.5, 7.0];

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The model's answer to (1, 10).
fn answer(path: &Path) -> Vec<f32> {
    let graph = import(&read_file(path).unwrap(), "m", &Options::default()).unwrap();
    let outputs = Machine::new(&graph).run(&[Data::from_f32(&[1.0, 10.0])]).unwrap();
    outputs[0].to_f32()
}

const WANTED: [f32; 3] = [41.5, 51.5, 70.0];

#[test]
fn data_is_read_from_one_file_at_offsets() {
    let folder = Folder::new("one");
    let w = [("location", "m.onnx.data"), ("offset", "4"), ("length", "24"), ("checksum", "unused")];
    // Without a length, all that is left.
    let b = [("offset", "28"), ("location", "m.onnx.data")];
    let path = folder.write("m.onnx", &model(&w, &b));
    folder.write("m.onnx.data", &[vec![0xff; 4], bytes(&W), bytes(&B)].concat());
    assert_eq!(answer(&path), WANTED);
    assert!(compile_file(&path, &Options::default()).is_ok());
}

#[test]
fn the_macro_watches_every_file() {
    let folder = Folder::new("two");
    let path = folder.write("m.onnx", &model(&[("location", "parts/w")], &[("location", "./b.bin")]));
    let (w, b) = (folder.write("parts/w", &bytes(&W)), folder.write("b.bin", &bytes(&B)));
    assert_eq!(answer(&path), WANTED);
    let code = include_model(quote!(M = "m.onnx"), &folder.0).unwrap().to_string();
    assert_eq!(code.matches("include_bytes").count(), 3);
    for file in [path, w, b] {
        let file = file.to_str().unwrap().replace(folder.0.to_str().unwrap(), "");
        assert!(code.contains(file.rsplit('/').next().unwrap()), "{file} in {code}");
    }
}

#[test]
fn the_model_alone_is_refused() {
    let alone = model(&[("location", "w")], &[("location", "b")]);
    let message = compile(&alone, "m", &Options::default()).unwrap_err().to_string();
    assert!(message.contains("the data of constant \"w\" is in another file"), "{message}");
    assert!(message.contains("read_file") && message.contains("external_data=False"), "{message}");
    // What it is can be told all the same.
    assert_eq!(front::inspect(&alone).unwrap().operators.len(), 2);
}

#[test]
fn what_is_wrong_with_files_is_said() {
    let folder = Folder::new("wrong");
    folder.write("data", &bytes(&W));
    let refused = |w: &[(&str, &str)], words: &[&str]| {
        let path = folder.write("m.onnx", &model(w, &[("location", "data"), ("length", "12")]));
        let message = read_file(&path).unwrap_err().to_string();
        for words in words {
            assert!(message.contains(words), "{words:?} in {message}");
        }
        assert!(message.contains("constant \"w\"") && message.contains("help: "), "{message}");
    };
    let here = folder.0.to_str().unwrap();
    refused(&[("location", "m.onnx.data")], &["\"m.onnx.data\"", here, "external_data=False"]);
    refused(&[("location", "parts")], &["\"parts\"", "it is no file"]);
    for outside in ["/etc/passwd", "../data", "parts/../../data"] {
        refused(&[("location", outside)], &[outside, "outside of the model's folder"]);
    }
    let range = |offset, length| [("location", "data"), ("offset", offset), ("length", length)];
    refused(&range("1", "24"), &["24 bytes from 1 on", "has 24 bytes"]);
    refused(&range("18446744073709551615", "24"), &["has 24 bytes"]);
    refused(&range("0", "18446744073709551615"), &["has 24 bytes"]);
    refused(&[("location", "data"), ("offset", "25")], &["0 bytes from 25 on"]);
}

/// Links lead to other files of the folder, and not out of it.
#[cfg(unix)]
#[test]
fn links_are_followed_within_the_folder() {
    let (folder, outside) = (Folder::new("links"), Folder::new("links-outside"));
    folder.write("data", &bytes(&W));
    let secret = outside.write("secret", &bytes(&W));
    std::os::unix::fs::symlink(folder.0.join("data"), folder.0.join("inside.link")).unwrap();
    std::os::unix::fs::symlink(&secret, folder.0.join("out.link")).unwrap();
    std::os::unix::fs::symlink(&outside.0, folder.0.join("folder.link")).unwrap();
    let read = |location: &str| {
        let path = folder
            .write("m.onnx", &model(&[("location", location)], &[("location", "data"), ("length", "12")]));
        read_file(&path)
    };
    assert!(read("inside.link").is_ok());
    for location in ["out.link", "folder.link/secret"] {
        let message = read(location).unwrap_err().to_string();
        assert!(
            message.contains("a link out of the model's folder") && message.contains("help: "),
            "{message}"
        );
    }
}

/// A file that claims to be large without being so, and one whose bytes every constant takes.
#[test]
fn little_is_allocated() {
    let folder = Folder::new("large");
    let path = folder.write("m.onnx", &model(&[("location", "data")], &[("location", "data")]));
    let sparse = std::fs::File::create(folder.0.join("data")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let message = read_file(&path).unwrap_err().to_string();
    assert!(message.contains("1099511627776 bytes, too many"), "{message}");

    folder.write("data", &[0; 24]);
    let many = [("location", "data")];
    let constants: Vec<u8> = (0..5).flat_map(|_| field(5, constant("w", &[2, 3], &many))).collect();
    let path = folder.write("m.onnx", &[int(1, 8), field(7, constants), field(8, int(2, 17))].concat());
    let message = read_file(&path).unwrap_err().to_string();
    assert!(message.contains("more than 4 times the bytes of \"data\""), "{message}");
}

/// A file of the right size for something else.
#[test]
fn data_of_another_size_is_refused() {
    let folder = Folder::new("size");
    let path = folder.write("m.onnx", &model(&[("location", "data")], &[("location", "data")]));
    folder.write("data", &bytes(&W));
    let message = compile_file(&path, &Options::default()).unwrap_err().to_string();
    assert!(message.contains("constant \"b\" of shape [3] has 6 elements"), "{message}");
}
