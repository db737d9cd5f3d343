//! Reading of small files.

use super::testing::{file, Item};
use super::{Broken, File};
use crate::budget::Budget;

fn sample() -> Vec<u8> {
    let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
    let kernel = Item::Floats(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let inner = Item::Group(vec![("kernel", kernel)], vec![("weight_names", texts(&["a", "bc"]))]);
    file(&Item::Group(vec![("dense", inner)], vec![("version", texts(&["3.1"])), ("none", Vec::new())]))
}

#[test]
fn reads_groups_attributes_and_arrays() {
    let bytes = sample();
    let file = File::open(&bytes).ok().unwrap();
    let mut budget = Budget::new(bytes.len());
    let root = file.root();
    assert_eq!(file.text(root, "version", &mut budget).ok().flatten().as_deref(), Some("3.1"));
    assert_eq!(file.texts(root, "none", &mut budget).ok().flatten().map(|list| list.len()), Some(0));
    assert!(file.text(root, "nothing", &mut budget).ok().flatten().is_none());
    let dense = file.child(root, "dense").ok().flatten().unwrap();
    let names = file.texts(dense, "weight_names", &mut budget).ok().flatten().unwrap();
    assert_eq!(names, ["a", "bc"]);
    let kernel = file.follow(root, "dense/kernel").ok().flatten().unwrap();
    let array = file.dataset(kernel).ok().flatten().unwrap();
    assert_eq!(array.dims, [2, 3]);
    let numbers = array.read(&file, &mut budget).ok().unwrap().to_f32();
    assert_eq!(numbers, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert!(file.follow(root, "dense/bias").ok().unwrap().is_none());
    assert!(file.dataset(dense).ok().unwrap().is_none());
}

#[test]
fn memory_is_in_proportion_to_the_file() {
    let bytes = sample();
    let file = File::open(&bytes).ok().unwrap();
    let kernel = file.follow(file.root(), "dense/kernel").ok().flatten().unwrap();
    let array = file.dataset(kernel).ok().flatten().unwrap();
    let mut budget = Budget::new(0);
    assert!(budget.charge(8 << 10).is_ok());
    assert!(matches!(array.read(&file, &mut budget), Err(Broken::Damaged(_))));
}

#[test]
fn cycles_end() {
    // The tree of the root's group with itself as its child.
    let mut bytes = sample();
    let tree = bytes.windows(4).rposition(|window| window == b"TREE").unwrap();
    bytes[tree + 5] = 20;
    bytes[tree + 32..tree + 40].copy_from_slice(&(tree as u64).to_le_bytes());
    let file = File::open(&bytes).ok().unwrap();
    assert!(matches!(file.child(file.root(), "x"), Err(Broken::Damaged(_))));
}

#[test]
fn refuses_other_files() {
    assert!(File::open(b"").is_err() && File::open(b"\x89HDF\r\n\x1a\n\x09").is_err());
}
