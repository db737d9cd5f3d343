//! Files of every version, and what becomes of VHLO's operations.

use super::super::testing::{number, Draft, Op, BUILTIN, OTHER, VHLO};
use super::super::{is_jax_export, jax_payload, read};
use crate::stablehlo::module::{Attribute, Element, Module, Operation, Tensor, Type, Value};
use crate::stablehlo::testing::canonical;
use kiln_ir::error::Error;

/// An operation without attributes and regions.
pub(super) fn plain<'a>(name: &'a str, results: &[u64], operands: &[u64]) -> Op<'a> {
    Op { name, results: results.to_vec(), operands: operands.to_vec(), ..Op::default() }
}

/// A file with a reduction, whose region uses what is outside of it, and two other operations.
pub(super) fn reduction(version: u64) -> Vec<u8> {
    let mut draft = Draft::new(version);
    let float = draft.ty(VHLO, &[4]);
    let (scalar, list) = (draft.tensor(&[], float), draft.tensor(&[3], float));
    let half = draft.dense(scalar, &0.5f32.to_le_bytes());
    let place = draft.place("model/half");
    let constant = draft.op(Op {
        name: "constant_v1",
        attributes: vec![("value", half)],
        results: vec![scalar],
        location: Some(place),
        ..Op::default()
    });
    // The argument has number 0, the constant 1, the reduction 2 and the sum of it 3. The region's values come after them.
    let operations = [
        draft.op(plain("add_v1", &[scalar], &[4, 5])),
        draft.op(plain("multiply_v1", &[scalar], &[6, 1])),
        draft.op(plain("return_v1", &[], &[7])),
    ];
    let region = draft.region(4, &[scalar, scalar], &operations);
    let dimensions = draft.integers(&[0]);
    let reduce = draft.op(Op {
        name: "reduce_v1",
        attributes: vec![("dimensions", dimensions)],
        results: vec![scalar],
        operands: vec![0, 1],
        regions: vec![region],
        ..Op::default()
    });
    let sum = draft.op(plain("tanh_v1", &[scalar], &[2]));
    let end = draft.op(plain("return_v1", &[], &[3]));
    draft.main(&[list], &[scalar], 4, &[constant, reduce, sum, end])
}

/// The only operation before the return of a file with it.
fn single<'m>(module: &'m Module<'_>) -> &'m Operation<'m> {
    let [operation, _] = &module.functions[0].body.operations[..] else { panic!("{module:?}") };
    operation
}

/// A file with one operation, which the function makes, of a tensor of 4 floats.
fn file_of(version: u64, of: impl FnOnce(&mut Draft, u64) -> Vec<u8>) -> Vec<u8> {
    let mut draft = Draft::new(version);
    let float = draft.ty(VHLO, &[4]);
    let list = draft.tensor(&[4], float);
    let operation = of(&mut draft, list);
    let end = draft.op(plain("return_v1", &[], &[1]));
    draft.main(&[list], &[list], 2, &[operation, end])
}

/// The attributes of one operation with these.
fn attributes_of(name: &str, attributes: impl FnOnce(&mut Draft) -> Vec<(&'static str, u64)>) -> String {
    let file = file_of(6, |draft, list| {
        let attributes = attributes(draft);
        draft.op(Op { name, attributes, results: vec![list], operands: vec![0], ..Op::default() })
    });
    format!("{:?}", single(&read(&file).unwrap()).attributes.0)
}

#[test]
fn versions_say_the_same() {
    let newest = reduction(6);
    let newest = read(&newest).unwrap();
    let expected = canonical(&newest);
    for version in 0..6 {
        assert_eq!(canonical(&read(&reduction(version)).unwrap()), expected, "version {version}");
    }
    let main = &newest.functions[0];
    assert!(main.public && main.name == "main" && main.argument_attributes.len() == 1);
    let [constant, reduce, tanh, end] = &main.body.operations[..] else { panic!("{main:?}") };
    assert_eq!((&*constant.name, &*constant.place), ("stablehlo.constant", "model/half"));
    assert!(tanh.place.starts_with("byte "));
    assert_eq!(reduce.operands, [Value(0), constant.results[0]]);
    assert!(matches!(reduce.attributes.get("dimensions"), Some(Attribute::Ints(list)) if list[..] == [0]));
    let region = &reduce.regions[0];
    let [add, multiply, inner] = &region.operations[..] else { panic!("{region:?}") };
    assert_eq!(add.operands, region.arguments);
    assert_eq!(multiply.operands, [add.results[0], constant.results[0]]);
    assert_eq!([&*inner.name, &*end.name], ["stablehlo.return", "func.return"]);
    let list = Tensor { element: Element::Float(32), shape: vec![Some(3)] };
    assert_eq!(main.types[0], Type::Tensor(list));
    assert_eq!(main.types.len(), 8);
}

#[test]
fn regions_that_are_cut_off_have_values_of_their_own() {
    for version in [1, 2, 6] {
        let file = file_of(version, |draft, list| {
            let operations = [draft.op(plain("return_v1", &[], &[0]))];
            let regions = vec![draft.region(1, &[list], &operations), draft.region(1, &[list], &operations)];
            draft.op(Op {
                name: "while_v1",
                results: vec![list],
                operands: vec![0],
                regions,
                is_isolated: true,
                ..Op::default()
            })
        });
        let module = read(&file).unwrap();
        let operation = single(&module);
        for region in &operation.regions {
            assert_eq!(region.operations[0].operands, region.arguments);
        }
        assert_ne!(operation.regions[0].arguments, operation.regions[1].arguments);
    }
}

#[test]
fn truth_values_are_unpacked() {
    let elements = |count: i64, bytes: &[u8]| {
        let file = file_of(6, |draft, list| {
            let boolean = draft.ty(VHLO, &[0]);
            let ty = draft.tensor(&[count], boolean);
            let value = draft.dense(ty, bytes);
            draft.op(Op {
                name: "constant_v1",
                attributes: vec![("value", value)],
                results: vec![list],
                ..Op::default()
            })
        });
        let module = read(&file)?;
        match single(&module).attributes.get("value") {
            Some(Attribute::Dense(dense)) => Ok((dense.bytes.to_vec(), dense.splat)),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(elements(10, &[0b101, 0b10]).unwrap(), (vec![1, 0, 1, 0, 0, 0, 0, 0, 0, 1], false));
    assert_eq!(elements(3, &[0b110]).unwrap(), (vec![0, 1, 1], false));
    assert_eq!(elements(10, &[0xff]).unwrap(), (vec![1], true));
    assert_eq!(elements(10, &[0]).unwrap(), (vec![0], true));
    assert_eq!(elements(1, &[1]).unwrap(), (vec![1], true));
    assert_eq!(elements(10, &[0, 1, 1, 0, 0, 0, 0, 0, 0, 1]).unwrap().0, [0, 1, 1, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(elements(0, &[]).unwrap().0, []);
    let error: Error = elements(10, &[1, 2, 3]).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("10 truth values") && message.contains("operation `stablehlo.constant`"),
        "{message}"
    );
}

#[test]
fn constants_are_not_copied() {
    let values: Vec<u8> = (0..16).collect();
    let file = file_of(6, |draft, list| {
        let value = draft.dense(list, &values);
        draft.op(Op {
            name: "constant_v1",
            attributes: vec![("value", value)],
            results: vec![list],
            ..Op::default()
        })
    });
    let module = read(&file).unwrap();
    let Some(Attribute::Dense(dense)) = single(&module).attributes.get("value") else { panic!("{module:?}") };
    assert!(matches!(dense.bytes, std::borrow::Cow::Borrowed(bytes) if bytes == values) && !dense.splat);
}

#[test]
fn small_integers_have_signs() {
    let file = file_of(6, |draft, list| {
        let small = draft.ty(VHLO, &[10]);
        let ty = draft.tensor(&[2], small);
        let value = draft.dense(ty, &[0x0f, 0x07]);
        draft.op(Op {
            name: "constant_v1",
            attributes: vec![("value", value)],
            results: vec![list],
            ..Op::default()
        })
    });
    let module = read(&file).unwrap();
    let Some(Attribute::Dense(dense)) = single(&module).attributes.get("value") else { panic!("{module:?}") };
    assert_eq!(*dense.bytes, [0xff, 7]);
}

#[test]
fn dimension_numbers_become_parts() {
    let gather = |draft: &mut Draft| {
        let (empty, first) = (draft.integers(&[]), draft.integers(&[0]));
        let index = draft.ty(VHLO, &[14]);
        let zero = draft.attribute(VHLO, &[9, index, 0]);
        let no = draft.attribute(VHLO, &[2, 0]);
        vec![
            ("offset_dims", empty),
            ("collapsed_slice_dims", first),
            ("start_index_map", first),
            ("index_vector_dim", zero),
            ("slice_sizes", first),
            ("indices_are_sorted", no),
        ]
    };
    let old = attributes_of("gather_v1", gather);
    let new = attributes_of("gather_v2", |draft| {
        let empty = draft.integers(&[]);
        let more = [("operand_batching_dims", empty), ("start_indices_batching_dims", empty)];
        gather(draft).into_iter().chain(more).collect()
    });
    assert_eq!(old, new);
    assert!(
        old.contains("(\"dimension_numbers\", Parts(Attributes([(\"collapsed_slice_dims\", Ints([0])), (\"start_index_map\", Ints([0]))])))"),
        "{old}"
    );
    assert!(
        old.contains("(\"slice_sizes\", Ints([0]))") && old.contains("(\"indices_are_sorted\", Bool(false))")
    );
}

#[test]
fn algorithms_are_left_out_where_none_is_given() {
    let dot = |draft: &mut Draft, given: bool| {
        let list = draft.integers(&[1]);
        let (none, float, index) = (draft.ty(VHLO, &[33]), draft.ty(VHLO, &[4]), draft.ty(VHLO, &[14]));
        let none = draft.attribute(VHLO, &[17, none]);
        let [ty, number, flag] = match given {
            true => [
                draft.attribute(VHLO, &[17, float]),
                draft.attribute(VHLO, &[9, index, 2]),
                draft.attribute(VHLO, &[2, 1]),
            ],
            false => [none; 3],
        };
        let precision = draft.attribute(VHLO, &[11, 2]);
        let precision = draft.attribute(VHLO, &[1, 1, precision]);
        vec![
            ("lhs_batching_dimensions", list),
            ("rhs_batching_dimensions", list),
            ("lhs_contracting_dimensions", list),
            ("rhs_contracting_dimensions", list),
            ("precision_config", precision),
            ("lhs_precision_type", ty),
            ("rhs_precision_type", ty),
            ("accumulation_type", ty),
            ("lhs_component_count", number),
            ("rhs_component_count", number),
            ("num_primitive_operations", number),
            ("allow_imprecise_accumulation", flag),
        ]
    };
    let without = attributes_of("dot_general_v2", |draft| dot(draft, false));
    assert!(
        without.starts_with(
            "[(\"precision_config\", List([Text(\"HIGHEST\")])), (\"dot_dimension_numbers\", Parts("
        ),
        "{without}"
    );
    assert!(!without.contains("algorithm") && !without.contains("precision_type"));
    let with = attributes_of("dot_general_v2", |draft| dot(draft, true));
    let algorithm =
        "(\"algorithm\", Parts(Attributes([(\"lhs_precision_type\", Text(\"f32\")), (\"rhs_precision_type\"";
    assert!(with.contains(algorithm) && with.contains("(\"lhs_component_count\", Int(1))"), "{with}");
}

#[test]
fn defaults_of_vhlo_are_left_out() {
    let accuracy = |tolerance: u64| {
        attributes_of("tanh_v2", |draft| {
            let mode = draft.attribute(VHLO, &[19, 0]);
            vec![("result_accuracy", draft.attribute(VHLO, &[20, tolerance, 0, 0, mode]))]
        })
    };
    assert_eq!(accuracy(0), "[]");
    assert!(accuracy(2).contains("result_accuracy") && accuracy(2).contains("\"ulps\", Int(0)"));
    let compare = |kind| {
        attributes_of("compare_v1", |draft| {
            let direction = draft.attribute(VHLO, &[3, 5]);
            vec![("comparison_direction", direction), ("compare_type", draft.attribute(VHLO, &[4, kind]))]
        })
    };
    assert_eq!(compare(0), "[(\"comparison_direction\", Text(\"LT\"))]");
    assert!(compare(3).contains("(\"compare_type\", Text(\"SIGNED\"))"));
}

#[test]
fn numbers_are_read_by_their_types() {
    let attributes = attributes_of("composite_v1", |draft| {
        let of = |draft: &mut Draft, code: u64, kind: u64, value: Vec<u8>| {
            let ty = draft.ty(VHLO, &[kind]);
            draft.attribute_of(VHLO, [number(code), number(ty), value].concat())
        };
        let values = [
            of(draft, 9, 11, vec![0xfe]),
            of(draft, 9, 16, vec![0xfe]),
            of(draft, 9, 13, number(0xffff_fffe << 1)),
            of(draft, 9, 18, number(0xffff_fffe << 1)),
            of(draft, 9, 9, number(5)),
            of(draft, 8, 3, number(0x3c00 << 1)),
            of(draft, 8, 2, number(0x3fc0 << 1)),
            of(draft, 8, 4, number(u64::from(2f32.to_bits()) << 1)),
            of(draft, 8, 5, [&[0], &(0.25f64.to_bits() << 1).to_le_bytes()[..]].concat()),
        ];
        let list: Vec<u64> = [1, values.len() as u64].into_iter().chain(values).collect();
        let (list, name) = (draft.attribute(VHLO, &list), draft.text("x"));
        let attributes = draft.attribute(VHLO, &[6, 1, name, list]);
        vec![("name", name), ("composite_attributes", attributes), ("decomposition", name), ("version", name)]
    });
    let list = "List([Int(-2), Int(254), Int(-2), Int(4294967294), Int(-3), Float(1.0), Float(1.5), Float(2.0), Float(0.25)])";
    assert!(attributes.contains(list), "{attributes}");
}

#[test]
fn quantised_types_are_read() {
    let mut draft = Draft::new(6);
    let (int, float) = (draft.ty(VHLO, &[11]), draft.ty(VHLO, &[4]));
    let scale = |scale: f64| scale.to_bits().rotate_left(1);
    let one = draft.ty(VHLO, &[24, 1, int, float, scale(0.5), 6, 255, 254]);
    let many = draft.ty(VHLO, &[30, 1, int, float, 1, 255, 254, 2, scale(0.5), scale(0.25), 2, 0, 2]);
    let (one, many) = (draft.tensor(&[2, 2], one), draft.tensor(&[2, 2], many));
    let end = draft.op(plain("return_v1", &[], &[0]));
    let file = draft.main(&[one, many], &[one], 2, &[end]);
    let module = read(&file).unwrap();
    let quantised = |ty: &Type| match ty {
        Type::Tensor(Tensor { element: Element::Quantised(of), .. }) => {
            (of.scales.clone(), of.dimension, of.range)
        }
        other => panic!("{other:?}"),
    };
    let types = &module.functions[0].types;
    assert_eq!(quantised(&types[0]), (vec![(0.5, 3)], None, (-128, 127)));
    assert_eq!(quantised(&types[1]), (vec![(0.5, 0), (0.25, 1)], Some(1), (-128, 127)));
}

#[test]
fn open_dimensions_have_no_size() {
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let list = draft.tensor(&[i64::MIN, -1, 3], float);
    let end = draft.op(plain("return_v1", &[], &[0]));
    let file = draft.main(&[list], &[list], 1, &[end]);
    let Type::Tensor(tensor) = &read(&file).unwrap().functions[0].types[0] else { panic!() };
    assert_eq!(tensor.shape, [None, None, Some(3)]);
}

#[test]
fn places_are_the_first_names() {
    let place_of = |location: &dyn Fn(&mut Draft) -> u64| {
        let file = file_of(6, |draft, list| {
            let location = Some(location(draft));
            draft.op(Op { location, ..plain("abs_v1", &[list], &[0]) })
        });
        single(&read(&file).unwrap()).place.to_string()
    };
    let line = |draft: &mut Draft| {
        let file = draft.string("net.py");
        let file = draft.attribute(BUILTIN, &[2, file]);
        draft.attribute(BUILTIN, &[11, file, 12, 7])
    };
    assert_eq!(place_of(&|draft| draft.place("a/b")), "a/b");
    assert_eq!(place_of(&line), "net.py:12:7");
    let several = |draft: &mut Draft| {
        let (line, first, second) = (line(draft), draft.place("first"), draft.place("second"));
        let call = draft.attribute(BUILTIN, &[10, line, first]);
        draft.attribute(BUILTIN, &[12, 2, call, second])
    };
    assert_eq!(place_of(&several), "first");
    assert!(place_of(&|draft| draft.attribute(BUILTIN, &[15])).starts_with("byte "));
    assert!(place_of(&|draft| draft.attribute(OTHER, &[15])).starts_with("byte "));
}

#[test]
fn arguments_have_the_names_of_their_locations() {
    for version in [3, 6] {
        let mut draft = Draft::new(version);
        let float = draft.ty(VHLO, &[4]);
        let scalar = draft.tensor(&[], float);
        draft.argument = Some(draft.place("image"));
        let end = draft.op(plain("return_v1", &[], &[0]));
        let file = draft.main(&[scalar], &[scalar], 1, &[end]);
        let module = read(&file).unwrap();
        let name = module.functions[0].argument_attributes[0].get("name");
        assert!(matches!(name, Some(Attribute::Text(name)) if name == "image"), "{name:?}");
    }
}

#[test]
fn functions_return_what_they_say() {
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let (scalar, list) = (draft.tensor(&[], float), draft.tensor(&[2], float));
    let end = draft.op(plain("return_v1", &[], &[0]));
    let message = refusal(&draft.main(&[scalar], &[list], 1, &[end]));
    assert!(message.contains("func.func @main") && message.contains("returns other types"), "{message}");
}

/// The message of a file that is not read.
fn refusal(file: &[u8]) -> String {
    read(file).unwrap_err().to_string()
}

#[test]
fn messages_name_the_way_out() {
    let other = refusal(&file_of(6, |draft, list| draft.op(plain("mhlo.add", &[list], &[0]))));
    assert!(other.contains("operation `other.add` is not known") && other.contains("jax.export"), "{other}");
    let newer = refusal(&file_of(6, |draft, list| draft.op(plain("add_v9", &[list], &[0]))));
    assert!(newer.contains("`vhlo.add_v9` is not known") && newer.contains("an older version"), "{newer}");
    let mut future = reduction(6);
    future[4] = 7 << 1 | 1;
    let future = refusal(&future);
    assert!(future.contains("version 7") && future.contains("an older version"), "{future}");
    let unknown = refusal(&file_of(6, |draft, list| {
        let value = draft.attribute(VHLO, &[99]);
        draft.op(Op {
            name: "constant_v1",
            attributes: vec![("value", value)],
            results: vec![list],
            ..Op::default()
        })
    }));
    assert!(unknown.contains("attribute 99") && unknown.contains("section of attributes"), "{unknown}");
    let unused = refusal(&file_of(6, |draft, list| draft.op(plain("abs_v1", &[list], &[7]))));
    assert!(unused.contains("value 7") && unused.contains("`stablehlo.abs`"), "{unused}");
}

/// A file of `jax.export` with that field.
fn export(payload: &[u8]) -> Vec<u8> {
    let fields = 14usize;
    let mut file = (4 + 4 + 2 * fields as u32).to_le_bytes().to_vec();
    let table = file.len() + 4 + 2 * fields;
    file.extend([(4 + 2 * fields) as u8, 0, 12, 0]);
    file.extend([4, 0]);
    file.extend(vec![0; 2 * (fields - 2)]);
    file.extend([8, 0]);
    assert_eq!(file.len(), table);
    file.extend((table as u32 - 4).to_le_bytes());
    file.extend([5, 0, 0, 0]);
    file.extend(4u32.to_le_bytes());
    file.extend((payload.len() as u32).to_le_bytes());
    file.extend(payload);
    file
}

#[test]
fn exports_of_jax_hold_bytecode() {
    let payload = reduction(6);
    let file = export(&payload);
    assert!(is_jax_export(&file));
    assert_eq!(jax_payload(&file).unwrap(), payload);
    assert!(!is_jax_export(&export(b"text")) && jax_payload(&export(b"text")).is_err());
    for end in 0..file.len() {
        assert!(!is_jax_export(&file[..end]), "{end}");
    }
    for at in 0..60 {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[at] = byte;
            is_jax_export(&damaged);
        }
    }
}

#[test]
fn long_modules_have_the_allowance_of_their_text() {
    let count = 3_000;
    let mut draft = Draft::new(6);
    let float = draft.ty(VHLO, &[4]);
    let list = draft.tensor(&[4], float);
    let names = ["tanh_v1", "abs_v1"];
    let mut operations: Vec<_> =
        (0..count).map(|k| draft.op(plain(names[k % 2], &[list], &[k as u64]))).collect();
    operations.push(draft.op(plain("return_v1", &[], &[count as u64])));
    let file = draft.main(&[list], &[list], count as u64 + 1, &operations);
    assert!(file.len() < 15 * count);
    assert_eq!(crate::read(&file, "long").unwrap().nodes().count(), count);
}
