//! The reader of TensorFlow, as the table of formats has it.

use super::body::{library, Body, Model};
use super::bundle::{Bundle, Index};
use super::lower;
use super::proto::{short, Failure, GraphDef, MetaGraph, Signature};
use crate::budget::Budget;
use crate::protobuf::{put, Message, Value};
use crate::{External, Fetch, Lowered, Read, Reader, Refusal, Summary};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;

pub(crate) const READER: Reader =
    Reader { read, inspect, embed, operators: || lower::operators().map(str::to_owned).collect() };

/// The fields of a SavedModel that the files of its variables are put into: the table, and each file of bytes. No program but Kiln writes them.
const INDEX: u32 = 54001;
const SHARD: u32 = 54002;

fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let (model, budget) = parse(bytes)?;
    lower::lower(&model, name, options, budget)
}

fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let (model, budget) = parse(bytes)?;
    Ok(Summary { file_bytes: bytes.len(), ..lower::inspect(&model, budget)? })
}

fn broken(failure: Failure) -> Error {
    match failure {
        Failure::Broken(what) => Error::malformed("model", what),
        Failure::Budget(error) => error,
    }
}

/// What a refusal of the whole model is.
fn whole<T>(lowered: Lowered<T>) -> Result<T, Error> {
    lowered.map_err(|refusal| match refusal {
        Refusal::Fatal(error) => error,
        Refusal::Malformed(what) => Error::malformed("model", what),
        Refusal::Unsupported(what, help) => unsupported(what, help),
        Refusal::Follows => Error::internal("front", "a refusal without a reason"),
    })
}

fn unsupported(what: String, help: String) -> Error {
    Error::Unsupported(vec![Problem { place: "model".into(), what, help }])
}

fn parse(bytes: &[u8]) -> Result<(Model<'_>, Budget), Error> {
    // Nodes are small messages, of which larger structures are made.
    let mut budget = Budget::new(bytes.len().saturating_mul(4));
    match super::is_saved_model(bytes) {
        true => saved_model(bytes, &mut budget).map(|model| (model, budget)),
        false => {
            let GraphDef { nodes, functions } = GraphDef::parse(bytes, &mut budget).map_err(broken)?;
            let model = Model {
                body: whole(Body::of_graph(nodes, &mut budget))?,
                functions: whole(library(functions, &mut budget))?,
                signature: None,
                restore: None,
                init: None,
                bundle: None,
                version: "",
            };
            Ok((model, budget))
        }
    }
}

fn saved_model<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Model<'a>, Error> {
    let (mut metas, mut index, mut shards) = (Vec::new(), None, Vec::new());
    for field in Message(bytes) {
        match field.map_err(|e| broken(e.into()))? {
            (2, Value::Bytes(meta)) => metas.push(meta),
            (INDEX, Value::Bytes(table)) => index = Some(table),
            (SHARD, Value::Bytes(shard)) => shards.push(shard),
            _ => {}
        }
        budget.charge(16)?;
    }
    let mut chosen = None;
    for bytes in metas {
        let meta = MetaGraph::parse(bytes, budget).map_err(broken)?;
        if chosen.is_none() || meta.tags.contains(&"serve") {
            let is_for_serving = meta.tags.contains(&"serve");
            chosen = Some(meta);
            if is_for_serving {
                break;
            }
        }
    }
    let meta = chosen.ok_or_else(|| Error::malformed("model", "it has no graph"))?;
    let body = whole(Body::of_graph(meta.graph.nodes, budget))?;
    let bundle = match index {
        Some(table) => Some(Bundle { index: Index::parse(table, budget).map_err(broken)?, shards }),
        None => None,
    };
    Ok(Model {
        restore: body.find(meta.restore).map(|(node, _)| node),
        init: body.find(meta.init).map(|(node, _)| node),
        body,
        functions: whole(library(meta.graph.functions, budget))?,
        signature: Some(signature(meta.signatures)?),
        bundle,
        version: meta.version,
    })
}

/// The signature that is compiled: the one for serving, or the only one.
fn signature(mut signatures: Vec<Signature<'_>>) -> Result<Signature<'_>, Error> {
    signatures.retain(|signature| !signature.outputs.is_empty());
    let served = signatures.iter().position(|signature| signature.key == "serving_default");
    match (served, signatures.len()) {
        (Some(k), _) => Ok(signatures.swap_remove(k)),
        (None, 1) => Ok(signatures.swap_remove(0)),
        (None, count) => {
            let names: Vec<String> =
                signatures.iter().take(8).map(|own| format!("{:?}", short(own.key))).collect();
            let what = match count {
                0 => "it has no signature with outputs".to_owned(),
                _ => format!(
                    "it has no signature \"serving_default\", and several others: {}",
                    names.join(", ")
                ),
            };
            let help = "save it with `tf.saved_model.save(model, path, signatures=model.call.get_concrete_function(…))`, or `model.export(path)` in Keras";
            Err(unsupported(what, help.into()))
        }
    }
}

/// A SavedModel with the files of its variables, which lie in the folder `variables` beside it.
///
/// # Errors
/// Those of `fetch`, and [`Error::Malformed`] for a table of variables that is no sound one.
fn embed(bytes: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    if !super::is_saved_model(bytes) || !has_variables(bytes) {
        return Ok(None);
    }
    let mut file = |name: String| {
        let external = External {
            place: "variables".into(),
            location: format!("variables/{name}"),
            offset: 0,
            length: None,
        };
        fetch(&external)
    };
    let table = file("variables.index".into())?;
    let index = Index::parse(&table, &mut Budget::new(table.len().saturating_mul(4))).map_err(broken)?;
    let mut whole = bytes.to_vec();
    put(&mut whole, INDEX, &table);
    for shard in 0..index.shards {
        let shard = file(format!("variables.data-{shard:05}-of-{:05}", index.shards))?;
        put(&mut whole, SHARD, &shard);
    }
    Ok(Some(whole))
}

/// Whether a graph of a SavedModel has variables, and their files are not in it yet. Graphs that are no sound messages have none.
fn has_variables(bytes: &[u8]) -> bool {
    let is_variable = |node: &[u8]| {
        Message(node).flatten().any(|field| {
            matches!(field, (2, Value::Bytes(b"VarHandleOp" | b"VariableV2" | b"Variable" | b"RestoreV2")))
        })
    };
    let mut found = false;
    for field in Message(bytes).flatten() {
        match field {
            (INDEX, _) => return false,
            (2, Value::Bytes(meta)) => {
                let graphs = Message(meta).flatten().filter(|field| field.0 == 2);
                for graph in graphs.filter_map(|field| field.1.bytes().ok()) {
                    let nodes = Message(graph).flatten().filter(|field| field.0 == 1);
                    found |= nodes.filter_map(|field| field.1.bytes().ok()).any(is_variable);
                }
            }
            _ => {}
        }
    }
    found
}
