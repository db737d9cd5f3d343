//! Attributes of VHLO as attributes of StableHLO.
//!
//! VHLO has one attribute for each number and list. StableHLO has some of them in parts of one attribute: dimension numbers. VHLO has no defaults. What
//! StableHLO's text leaves out is left out here, too.

use super::cursor::{Cursor, Parsed};
use super::dense;
use super::file::Allowance;
use crate::stablehlo::module::{Attribute, Attributes, Element, Type, CONVOLUTION};
use std::borrow::Cow;

type Named<'m> = (Cow<'m, str>, Attribute<'m>);

/// Dimensions of products.
const DOT: &[&str] = &[
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
];
/// How products are to be computed.
const ALGORITHM: &[&str] = &[
    "lhs_precision_type",
    "rhs_precision_type",
    "accumulation_type",
    "lhs_component_count",
    "rhs_component_count",
    "num_primitive_operations",
    "allow_imprecise_accumulation",
];
const GATHER: &[&str] = &[
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];
const SCATTER: &[&str] = &[
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];

/// What becomes one attribute: the operation, the attribute, its parts, and whether it has no parts that are empty or zero.
const JOINED: &[(&[&str], &str, &[&str], bool)] = &[
    (&["convolution_v1", "dynamic_conv_v1", "dynamic_conv_v2"], "dimension_numbers", &CONVOLUTION, false),
    (&["dot_general_v1", "dot_general_v2"], "dot_dimension_numbers", DOT, true),
    (&["dot_general_v2"], "algorithm", ALGORITHM, false),
    (
        &["gather_v1", "gather_v2", "dynamic_gather_v1", "dynamic_gather_v2"],
        "dimension_numbers",
        GATHER,
        true,
    ),
    (&["scatter_v1", "scatter_v2"], "scatter_dimension_numbers", SCATTER, true),
    (&["send_v1", "send_v2", "recv_v1", "recv_v2"], "channel_handle", &["channel_id", "channel_type"], false),
];

/// The attributes of an operation of VHLO, as its operation of StableHLO has them. The list has been charged.
pub(super) fn attributes<'m>(
    encoded: &str,
    mut list: Vec<Named<'m>>,
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<Attributes<'m>> {
    let charged = list.len();
    for (name, attribute) in &mut list {
        if !(encoded == "constant_v1" && name == "value") {
            integers(attribute, allowance, cursor)?;
        }
    }
    for &(operations, name, parts, without_empty) in JOINED {
        if operations.contains(&encoded) {
            join(&mut list, name, parts, without_empty, allowance, cursor)?;
        }
    }
    list.retain(|(name, attribute)| !is_left_out(encoded, name, attribute));
    if encoded == "dynamic_conv_v1" {
        // An operand says it.
        list.retain(|(name, _)| name != "padding");
    }
    for (name, attribute) in &mut list {
        match (&**name, &*attribute) {
            ("channel_id", Attribute::Int(_)) => {
                allowance.charge(2 * size_of::<Named<'_>>(), cursor)?;
                let id = std::mem::replace(attribute, Attribute::Unit);
                let handle = vec![(Cow::Borrowed("handle"), id), (Cow::Borrowed("type"), Attribute::Int(0))];
                *attribute = Attribute::Parts(Attributes(handle));
                *name = Cow::Borrowed("channel_handle");
            }
            ("use_global_device_ids" | "has_dynamic_root", Attribute::Bool(_)) => {
                *attribute = Attribute::Unit
            }
            _ => {}
        }
    }
    list.shrink_to_fit();
    match charged.checked_sub(list.len()) {
        Some(fewer) => allowance.release(fewer * size_of::<Named<'_>>()),
        None => allowance.charge((list.len() - charged) * size_of::<Named<'_>>(), cursor)?,
    }
    Ok(Attributes(list))
}

/// Tensors of integers become lists of integers, also within other attributes.
fn integers(attribute: &mut Attribute<'_>, allowance: &mut Allowance, cursor: &Cursor<'_>) -> Parsed<()> {
    match attribute {
        Attribute::Dense(tensor) => {
            if let Some(ints) = dense::ints(tensor, allowance, cursor)? {
                *attribute = Attribute::Ints(ints);
            }
        }
        Attribute::List(list) => {
            for element in list {
                integers(element, allowance, cursor)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Makes one attribute of several.
fn join<'m>(
    list: &mut Vec<Named<'m>>,
    name: &'static str,
    parts: &[&'static str],
    without_empty: bool,
    allowance: &mut Allowance,
    cursor: &Cursor<'_>,
) -> Parsed<()> {
    let is_part = |(name, _): &Named<'_>| parts.contains(&&**name);
    if without_empty {
        list.retain(|named| !is_part(named) || !is_nothing(&named.1));
    }
    // An algorithm that is not given has parts without values.
    let is_given = |(_, part): &Named<'_>| !matches!(part, Attribute::Unit);
    if name == "algorithm" && !list.iter().filter(|named| is_part(named)).any(is_given) {
        list.retain(|named| !is_part(named));
        return Ok(());
    }
    let mut joined = allowance.list(list.iter().filter(|named| is_part(named)).count(), cursor)?;
    for &part in parts {
        if let Some(at) = list.iter().position(|(name, _)| name == part) {
            let value = match list.remove(at).1 {
                // Types of numbers stand as words in an algorithm.
                Attribute::Type(Type::Tensor(tensor)) => Attribute::Text(word(&tensor.element)),
                value => value,
            };
            let part = match part {
                "channel_id" => "handle",
                "channel_type" => "type",
                part => part,
            };
            joined.push((Cow::Borrowed(part), value));
        }
    }
    list.push((Cow::Borrowed(name), Attribute::Parts(Attributes(joined))));
    Ok(())
}

/// The word for a type of numbers.
fn word<'m>(element: &Element) -> Cow<'m, str> {
    match element {
        Element::Float(bits) => format!("f{bits}").into(),
        Element::BFloat16 => "bf16".into(),
        Element::Signed(bits) => format!("i{bits}").into(),
        Element::Unsigned(bits) => format!("ui{bits}").into(),
        Element::Other(name) => name.clone().into(),
        Element::Bool => "i1".into(),
        _ => "".into(),
    }
}

/// An empty list, or zero.
fn is_nothing(attribute: &Attribute<'_>) -> bool {
    match attribute {
        Attribute::Int(number) => *number == 0,
        Attribute::Ints(list) => list.is_empty(),
        _ => false,
    }
}

/// Whether StableHLO's text leaves that out.
fn is_left_out(encoded: &str, name: &str, attribute: &Attribute<'_>) -> bool {
    let is_empty = || match attribute {
        Attribute::Text(text) => text.is_empty(),
        Attribute::Ints(list) => list.is_empty(),
        Attribute::List(list) => list.is_empty(),
        Attribute::Parts(parts) => parts.0.is_empty(),
        _ => false,
    };
    match name {
        "compare_type" => matches!(attribute, Attribute::Text(text) if text == "NOTYPE"),
        "result_accuracy" => is_empty(),
        "channel_id" => matches!(attribute, Attribute::Int(0)),
        "use_global_device_ids" | "has_dynamic_root" => matches!(attribute, Attribute::Bool(false)),
        "known_expanding_dimensions" | "known_nonexpanding_dimensions" => is_empty(),
        "backend_config"
        | "called_computations"
        | "output_operand_aliases"
        | "operand_layouts"
        | "result_layouts"
        | "result_tilings" => encoded.starts_with("custom_call_") && is_empty(),
        "source_target_pairs" => is_empty() && !encoded.starts_with("collective_"),
        "has_side_effect" | "is_host_transfer" => matches!(attribute, Attribute::Bool(false)),
        "api_version" => matches!(attribute, Attribute::Int(1)),
        "composite_attributes" => is_empty(),
        _ => false,
    }
}
