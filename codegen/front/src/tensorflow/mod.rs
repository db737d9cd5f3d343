//! Reader of TensorFlow: frozen graphs (`.pb`), and SavedModels with the variables in the files beside them.
//!
//! A SavedModel is a folder. The files of its variables are put into fields of its message `saved_model.pb` that TensorFlow does not know and skips
//! ([`reader`] says which); so a model is one file here, too. [`bundle`] reads those files, [`proto`] the messages, and [`body`] says which operand is which
//! node's result. The bytes are not trusted: every length is checked, and memory stays in proportion to the file.
//!
//! Images are channel-last in TensorFlow as in the graph. Unsigned integers of 16, 32 and 64 bits are signed ones of the same bits; floats of 16 and 64
//! bits are computed in 32 bits.

#[cfg(feature = "tensorflow")]
mod attributes;
#[cfg(feature = "tensorflow")]
mod body;
#[cfg(feature = "tensorflow")]
mod bundle;
#[cfg(feature = "tensorflow")]
mod lower;
#[cfg(feature = "tensorflow")]
mod proto;
#[cfg(feature = "tensorflow")]
mod reader;
#[cfg(feature = "tensorflow")]
mod tensor;
#[cfg(feature = "tensorflow")]
#[cfg(test)]
mod testing;
#[cfg(feature = "tensorflow")]
#[cfg(test)]
mod tests;

use crate::protobuf::{Message, Value};
#[cfg(feature = "tensorflow")]
pub(crate) use reader::READER;

/// Whether the bytes look like a SavedModel or a frozen graph.
pub(crate) fn is_tensorflow(bytes: &[u8]) -> bool {
    is_saved_model(bytes) || is_graph(bytes)
}

/// Whether the bytes look like a `saved_model.pb`: a version, and the graph of which it says what wrote it.
pub(crate) fn is_saved_model(bytes: &[u8]) -> bool {
    let (mut version, mut graph) = (false, false);
    for field in Message(bytes) {
        match field {
            Ok((1, Value::Varint(1))) => version = true,
            Ok((2, Value::Bytes(meta))) => {
                graph |= matches!(Message(meta).next(), Some(Ok((1 | 2, Value::Bytes(_)))))
            }
            Ok((_, Value::Bytes(_))) => {}
            _ => return false,
        }
    }
    version && graph
}

/// Whether the bytes look like a graph: nodes with a name and an operator, and beside them only a library and versions.
fn is_graph(bytes: &[u8]) -> bool {
    let is_node = |node: &[u8]| {
        let mut message = Message(node);
        let (name, op) = (message.next(), message.next());
        matches!((name, op), (Some(Ok((1, Value::Bytes(_)))), Some(Ok((2, Value::Bytes(_))))))
    };
    let mut nodes = 0;
    for field in Message(bytes) {
        match field {
            Ok((1, Value::Bytes(node))) if nodes > 0 || is_node(node) => nodes += 1,
            Ok((2 | 4, Value::Bytes(_)) | (3, Value::Varint(_)) | (5, Value::Bytes(_))) => {}
            _ => return false,
        }
    }
    nodes > 0
}
