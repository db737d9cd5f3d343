//! Files that are damaged, or made to do damage.

use super::super::testing::{number, numbers, section, Draft, Op, BUILTIN, VHLO};
use super::super::{is_bytecode, jax_payload, read};
use super::corpus::files;
use super::files::{plain, reduction};
use crate::testing::{damaged, Random};
use std::time::Instant;

/// Reads copies of a file with changed bytes.
fn change(file: &[u8], times: usize, random: &mut Random) {
    const BYTES: [u8; 8] = [0, 1, 3, 0x7f, 0x80, 0xfe, 0xff, 0x10];
    for _ in 0..times {
        let damaged = damaged(file, 0, &BYTES, random);
        let start = Instant::now();
        let _ = read(&damaged);
        assert!(start.elapsed().as_secs() < 1);
    }
}

#[test]
fn files_that_are_cut_short_are_refused() {
    for version in 0..=6 {
        let file = reduction(version);
        for end in 0..file.len() {
            assert!(read(&file[..end]).is_err(), "version {version}, {end} bytes");
        }
    }
}

#[test]
fn changed_bytes_do_no_harm() {
    let mut random = Random(7);
    for version in 0..=6 {
        change(&reduction(version), 5_000, &mut random);
    }
}

#[test]
fn changed_bytes_of_the_corpus_do_no_harm() {
    let mut random = Random(11);
    for path in files().into_iter().filter(|path| path.to_str().is_some_and(|name| name.contains(".vhlo."))) {
        let file = std::fs::read(path).unwrap();
        change(&file, if file.len() > 20_000 { 20 } else { 200 }, &mut random);
        let step = file.len().div_ceil(50);
        for end in (0..file.len()).step_by(step) {
            assert!(read(&file[..end]).is_err());
        }
    }
}

#[test]
fn exports_and_bytecode_are_told_apart() {
    for path in files() {
        let file = std::fs::read(&path).unwrap();
        let name = path.to_str().unwrap();
        assert_eq!(is_bytecode(&file), name.ends_with(".mlirbc"), "{name}");
        assert_eq!(jax_payload(&file).is_ok(), name.ends_with(".jaxexport"), "{name}");
    }
}

/// The message of a file with a constant that has this attribute.
fn refusal(value: impl FnOnce(&mut Draft) -> u64) -> String {
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let scalar = draft.tensor(&[], float);
    let value = value(&mut draft);
    let attributes = vec![("value", value)];
    let constant = draft.op(Op { name: "constant_v1", attributes, results: vec![scalar], ..Op::default() });
    let end = draft.op(plain("return_v1", &[], &[0]));
    let start = Instant::now();
    let message = match read(&draft.main(&[], &[scalar], 1, &[constant, end])) {
        Ok(module) => format!("{} functions", module.functions.len()),
        Err(error) => error.to_string(),
    };
    assert!(start.elapsed().as_secs() < 1);
    message
}

#[test]
fn cycles_are_found() {
    // The attributes that come next are those with these numbers.
    let cycle = refusal(|draft| draft.attribute(VHLO, &[1, 1, 1]));
    assert!(cycle.contains("in a cycle"), "{cycle}");
    let cycle = refusal(|draft| {
        // A tuple of itself.
        draft.ty(VHLO, &[23, 1, 2]);
        draft.attribute(VHLO, &[17, 2])
    });
    assert!(cycle.contains("in a cycle"), "{cycle}");
    let cycle = refusal(|draft| {
        // Complex numbers of themselves.
        draft.ty(VHLO, &[1, 2]);
        draft.attribute(VHLO, &[17, 2])
    });
    assert!(cycle.contains("in a cycle"), "{cycle}");
}

#[test]
fn locations_in_a_cycle_have_no_name() {
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let scalar = draft.tensor(&[], float);
    let location = Some(draft.attribute(BUILTIN, &[12, 2, 1, 1]));
    let first = draft.op(Op { location, ..plain("abs_v1", &[scalar], &[0]) });
    let end = draft.op(plain("return_v1", &[], &[1]));
    let file = draft.main(&[scalar], &[scalar], 2, &[first, end]);
    let module = read(&file).unwrap();
    assert!(module.functions[0].body.operations[0].place.starts_with("byte "));
}

#[test]
fn copies_of_copies_are_bounded() {
    let copies = refusal(|draft| {
        let mut last = draft.text("a");
        for _ in 0..30 {
            last = draft.attribute(VHLO, &[1, 2, last, last]);
        }
        last
    });
    assert!(copies.contains("more data than one of its size can contain"), "{copies}");
    let copies = refusal(|draft| {
        let mut last = draft.tensor(&[1; 60], 0);
        for _ in 0..25 {
            last = draft.ty(VHLO, &[23, 2, last, last]);
        }
        draft.attribute(VHLO, &[17, last])
    });
    assert!(copies.contains("more data than one of its size can contain"), "{copies}");
}

#[test]
fn long_names_are_read_once() {
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let scalar = draft.tensor(&[], float);
    let location = Some(draft.place(&"n".repeat(1 << 20)));
    let abs = draft.op(Op { location, ..plain("abs_v1", &[scalar], &[0]) });
    let end = draft.op(plain("return_v1", &[], &[0]));
    let operations: Vec<_> = std::iter::repeat_n(abs, 20_000).chain([end]).collect();
    let file = draft.main(&[scalar], &[scalar], 20_001, &operations);
    let start = Instant::now();
    assert_eq!(read(&file).unwrap().functions[0].body.operations.len(), 20_001);
    assert!(start.elapsed().as_secs() < 1);
}

#[test]
fn splats_are_not_spread() {
    let huge = refusal(|draft| {
        let ty = draft.tensor(&[1 << 40, 1 << 40], 0);
        draft.dense(ty, &[0; 4])
    });
    assert!(huge.contains("a constant has the shape"), "{huge}");
    let mut draft = Draft::new(6);
    let int = draft.ty(VHLO, &[14]);
    let (list, scalar) = (draft.tensor(&[1 << 40], int), draft.tensor(&[], int));
    let dimensions = draft.dense(list, &[0; 8]);
    let attributes = vec![("dimensions", dimensions)];
    let reverse = draft.op(Op { attributes, ..plain("reverse_v1", &[scalar], &[0]) });
    let end = draft.op(plain("return_v1", &[], &[1]));
    let message = read(&draft.main(&[scalar], &[scalar], 2, &[reverse, end])).unwrap_err().to_string();
    assert!(message.contains("more data than one of its size can contain"), "{message}");
}

#[test]
fn regions_are_not_too_deep() {
    let nested = |depth: usize| {
        let mut draft = Draft::new(6);
        let float = draft.ty(VHLO, &[4]);
        let scalar = draft.tensor(&[], float);
        let end = draft.op(plain("return_v1", &[], &[0]));
        let mut region = draft.region(0, &[], std::slice::from_ref(&end));
        for _ in 0..depth {
            let case =
                draft.op(Op { name: "case_v1", operands: vec![0], regions: vec![region], ..Op::default() });
            region = draft.region(0, &[], &[case, end.clone()]);
        }
        let case =
            draft.op(Op { name: "case_v1", operands: vec![0], regions: vec![region], ..Op::default() });
        draft.main(&[scalar], &[scalar], 1, &[case, end])
    };
    assert!(read(&nested(50)).is_ok());
    let message = read(&nested(2_000)).unwrap_err().to_string();
    assert!(message.contains("regions lie in one another"), "{message}");
}

#[test]
fn counts_are_compared_with_the_bytes() {
    for id in 0..5 {
        for count in [u64::MAX, 1 << 40, 1 << 31, 1000] {
            let mut file = [&b"ML\xefR"[..], &number(6), b"tests\0"].concat();
            for other in 0..5u8 {
                let bytes = if other == id { numbers(&[count, count, 1]) } else { numbers(&[0, 0]) };
                section(&mut file, other, &bytes);
            }
            assert!(read(&file).is_err());
        }
    }
}
