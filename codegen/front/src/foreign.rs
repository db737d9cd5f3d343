//! Files that are no models of a known format: what they look like.

use crate::FORMATS;
use kiln_ir::error::{Error, Problem};

/// The error for bytes of no known format.
pub(crate) fn error(bytes: &[u8]) -> Error {
    let known = FORMATS.iter().map(|format| format!("{} (.{})", format.name, format.ending));
    let known = known.collect::<Vec<_>>().join(", ");
    let (what, help) = match seen(bytes) {
        Some((what, help)) => (format!("the file is {what}; Kiln reads {known}"), help.into()),
        None => {
            ("the file is of no format that Kiln knows".into(), format!("give a model of one of {known}"))
        }
    };
    Error::Malformed(Problem { place: String::new(), what, help })
}

/// What bytes look like, and what to do about it.
fn seen(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const OF_KERAS: &str = "save the whole model with model.save(\"name.keras\")";
    const OF_WEIGHTS: &str = "load them into the model that they belong to, and export that: with torch.export.save (.pt2), model.save (.keras) or jax.export";
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let contains = |text: &[u8]| bytes.get(..4096).unwrap_or(bytes).windows(text.len()).any(|w| w == text);
    Some(match () {
        () if bytes.is_empty() => ("empty", "copy or export it again"),
        () if begins(b"version https://git-lfs") => {
            ("a Git LFS pointer", "run `git lfs pull` to fetch the model itself")
        }
        // A protobuf whose first field is a version number, 1 so far, and whose second is the graph.
        () if begins(&[0x08, 0x01, 0x12]) => (
            "probably the damaged graph of a SavedModel",
            "copy its folder again, or save the model again with tf.saved_model.save",
        ),
        // The same, of larger version numbers, and with a string as second field.
        () if begins(&[0x08]) && (contains(b"onnx") || contains(b"pytorch") || contains(&[0x12])) => {
            ("this is probably a damaged ONNX model", "copy or export it again")
        }
        () if begins(b"\x89HDF") => ("a damaged HDF5 file (Keras)", OF_KERAS),
        () if begins(b"PK\x03\x04") && contains(b"/data/weights/") => {
            ("probably a damaged archive of torch.export", "copy it, or save it again with torch.export.save")
        }
        () if begins(b"PK\x03\x04") && contains(b"data.pkl") => (
            "a PyTorch checkpoint: weights without a graph",
            "export the model with torch.export.save (.pt2), torch.jit.save (.pt) or torch.onnx.export",
        ),
        () if begins(b"PK\x03\x04") => ("a zip archive, perhaps of Keras and damaged", OF_KERAS),
        () if begins(b"GGUF") || begins(b"GGML") || begins(b"lmgg") => {
            ("of GGML (GGUF): weights without a graph", OF_WEIGHTS)
        }
        // The length of a header of less than 4 GB, and the header.
        () if bytes.get(4..9) == Some(b"\0\0\0\0{") => ("of safetensors: weights without a graph", OF_WEIGHTS),
        // The end of a table of LevelDB.
        () if bytes.ends_with(&0xdb47_7524_8b80_fb57_u64.to_le_bytes()) => (
            "the index of a TensorFlow checkpoint: variables without a graph",
            "load it into the model, and save that with tf.saved_model.save or model.save(\"name.keras\")",
        ),
        // Protocols 2 to 5.
        () if matches!(bytes, [0x80, 2..=5, ..]) => (
            "a pickle, which Kiln does not run",
            "export the model itself: from scikit-learn with skl2onnx, from PyTorch with torch.export.save (.pt2)",
        ),
        () if begins(b"\x93NUMPY") => ("an array of NumPy", "give the model; arrays belong behind --golden"),
        () if bytes.get(4..8) == Some(b"ORTM") => {
            ("a model in ONNX Runtime's own format", "give the .onnx file that it was made of")
        }
        () if bytes.get(4..6) == Some(b"ET") => (
            "an ExecuTorch program of another version",
            "export it again with a current version of ExecuTorch, or take the model's .pt2 file",
        ),
        () if bytes.get(4..8) == Some(b"FT01") => (
            "a file with weights of ExecuTorch (.ptd)",
            "give the program (.pte) that it belongs to, and leave the file beside it",
        ),
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::read;

    #[test]
    fn says_what_the_bytes_are() {
        let message = |bytes: &[u8]| read(bytes, "m").unwrap_err().to_string();
        assert!(message(b"").contains("empty"));
        assert!(message(b"\x08\x07\x12\x07pytorch").contains("ONNX"));
        assert!(message(b"\x08\x01\x12\x07").contains("SavedModel"));
        assert!(message(b"\x89HDF\r\n").contains("model.save(\"name.keras\")"));
        assert!(message(b"PK\x03\x04 config.json").contains("Keras"));
        assert!(message(b"PK\x03\x04 archive/data.pkl").contains("PyTorch checkpoint"));
        assert!(message(b"PK\x03\x04 archive/data.pkl").contains("torch.export.save (.pt2)"));
        assert!(message(b"PK\x03\x04 net/data/weights/weight_0").contains("damaged archive"));
        assert!(message(b"\x1c\0\0\0ET13").contains("another version"));
        assert!(message(b"\x1c\0\0\0FT01").contains("(.pte)"));
        assert!(message(b"GGUF\x03\0\0\0").contains("weights without a graph"));
        assert!(message(b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\"").contains("safetensors"));
        assert!(message(b"table\x57\xfb\x80\x8b\x24\x75\x47\xdb").contains("TensorFlow checkpoint"));
        assert!(message(b"\x80\x04\x95sklearn").contains("skl2onnx"));
        assert!(message(b"\x93NUMPY\x01\0").contains("array of NumPy"));
        assert!(message(b"\x1c\0\0\0ORTM").contains("ONNX Runtime's own format"));
        assert!(message(b"version https://git-lfs.github.com/spec/v1").contains("git lfs pull"));
        assert!(message(b"hello world, this is text").contains("TensorFlow Lite (.tflite)"));
        assert!(message(b"\x1c\0\0\0TFL3").contains("not a readable model"));
    }
}
