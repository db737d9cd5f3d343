//! Small models, whole and damaged.

use super::hdf5::testing::{file, Item};
use super::reader::READER;
use crate::testing::{zip, Random};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::{Data, Graph};

const DENSE: &str = "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"net\", \"layers\": [\
    {\"module\": \"keras.layers\", \"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 2], \"dtype\": \"float32\", \"name\": \"x\"}},\
    {\"module\": \"keras.layers\", \"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 3, \"activation\": \"relu\", \"use_bias\": true}}]}}";

fn kernel() -> Item {
    Item::Floats(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, -6.0])
}

fn bias() -> Item {
    Item::Floats(vec![3], vec![0.5, -20.0, 0.0])
}

fn group(items: Vec<(&'static str, Item)>) -> Item {
    Item::Group(items, Vec::new())
}

/// An archive of Keras 3.
fn archive(config: &str) -> Vec<u8> {
    let dense = group(vec![("vars", group(vec![("0", kernel()), ("1", bias())]))]);
    let weights = file(&group(vec![("layers", group(vec![("dense", dense)]))]));
    let metadata = b"{\"keras_version\": \"3.15.1\"}".to_vec();
    zip(&[
        ("metadata.json".into(), metadata),
        ("config.json".into(), config.as_bytes().to_vec()),
        ("model.weights.h5".into(), weights),
    ])
}

/// A file of Keras 2.
fn hdf5(config: &str) -> Vec<u8> {
    let names = ["d/kernel:0", "d/bias:0"].map(String::from).to_vec();
    let own = group(vec![("bias:0", bias()), ("kernel:0", kernel())]);
    let layer = Item::Group(vec![("d", own)], vec![("weight_names", names)]);
    let weights = group(vec![("d", layer)]);
    let attributes =
        vec![("model_config", vec![config.to_owned()]), ("keras_version", vec!["2.15.0".to_owned()])];
    file(&Item::Group(vec![("model_weights", weights)], attributes))
}

fn read(bytes: &[u8]) -> Result<Graph, Error> {
    (READER.read)(bytes, "net", &Options::default())?.complete()
}

#[test]
fn sparsemax_is_a_point_of_the_simplex() {
    let graph = read(&archive(&DENSE.replace("\"relu\"", "\"sparsemax\""))).unwrap();
    assert_eq!(kiln_ir::verify::verify(&graph), Ok(()));
    let mut machine = Machine::new(&graph);
    let mut run = |x: [f32; 2]| machine.run(&[Data::from_f32(&x)]).unwrap()[0].to_f32();
    // 9.5, −8, −9 and 0.6, −19.8, 0.3.
    assert_eq!(run([1.0, 2.0]), [1.0, 0.0, 0.0]);
    let close = |(x, y): (&f32, &f32)| (x - y).abs() < 1e-6;
    assert!(run([0.1, 0.0]).iter().zip(&[0.65, 0.0, 0.35]).all(close), "{:?}", run([0.1, 0.0]));
}

#[test]
fn both_forms() {
    for bytes in [archive(DENSE), hdf5(DENSE)] {
        assert!(super::is_keras(&bytes));
        let graph = read(&bytes).unwrap();
        assert_eq!(kiln_ir::verify::verify(&graph), Ok(()));
        let results = Machine::new(&graph).run(&[Data::from_f32(&[1.0, 2.0])]).unwrap();
        assert_eq!(results[0].to_f32(), [9.5, 0.0, 0.0]);
        let summary = (READER.inspect)(&bytes).unwrap();
        assert_eq!((summary.inputs[0].name.as_str(), summary.inputs[0].dims.as_slice()), ("x", &[-1, 2][..]));
        assert_eq!((summary.operators.len(), summary.operators[0].name.as_str()), (1, "Dense"));
        assert_eq!((summary.macs, summary.weight_bytes), (6, 36));
    }
}

#[test]
fn what_cannot_be_compiled_is_named() {
    let both = DENSE.replace(
        "{\"module\": \"keras.layers\", \"class_name\": \"Dense\"",
        "{\"class_name\": \"Lambda\", \"config\": {\"name\": \"twice\"}}, {\"module\": \"mine\", \"class_name\": \"Mine\", \"registered_name\": \"mine>Mine\"",
    );
    let message = read(&archive(&both)).unwrap_err().to_string();
    assert!(message.contains("layer \"twice\" (Lambda)"), "{message}");
    assert!(message.contains("layer \"d\" (Mine)") && message.contains("model's author"), "{message}");
}

#[test]
fn weights_that_do_not_fit() {
    let wide = DENSE.replace("[null, 2]", "[null, 4]");
    assert!(matches!(read(&archive(&wide)), Err(Error::Malformed(_))));
    let missing = DENSE.replace("\"class_name\": \"Dense\"", "\"class_name\": \"Embedding\"");
    let message = read(&archive(&missing)).unwrap_err().to_string();
    assert!(message.contains("layers/embedding/vars/0"), "{message}");
}

#[test]
fn damaged_files() {
    let mut random = Random(7);
    for whole in [archive(DENSE), hdf5(DENSE)] {
        for end in 0..whole.len() {
            let _ = (read(&whole[..end]), (READER.inspect)(&whole[..end]));
        }
        for _ in 0..3000 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = if random.below(3) == 0 { 0xFF } else { random.next() as u8 };
            }
            let _ = (read(&bytes), (READER.inspect)(&bytes));
        }
    }
}
