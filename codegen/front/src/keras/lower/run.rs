//! Models: their layers in an order in which operands come first.

use super::cx::Cx;
use super::{arguments, find, mask, model, short, unknown, Importer, Shared, Slot, LAYER_BYTES};
use super::{All, One, Slots};
use crate::keras::model::{links, Call, Kind, Layer, Link, Model};
use crate::keras::variables::DEEPEST;
use crate::onnx::lower::Importer as Means;
use crate::{Lowered, Refusal};
use kiln_ir::error::Error;
use std::collections::{BTreeSet, HashMap};

/// Names of a model's inputs and outputs.
#[derive(Default)]
pub(super) struct Names {
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
}

/// What the results of calls became; `None` for what was refused.
type Results<'v> = HashMap<Link<'v>, Option<Slot>>;

impl<'m> Importer<'m, '_> {
    /// Lowers everything.
    pub(super) fn run(&mut self, layer: &Layer<'_>) -> Result<Names, Error> {
        let wrong = |refusal: Refusal| match refusal {
            Refusal::Fatal(error) => error,
            Refusal::Malformed(what) => Error::malformed("model", what),
            Refusal::Unsupported(what, help) => {
                Error::Unsupported(vec![kiln_ir::error::Problem { place: "model".into(), what, help }])
            }
            Refusal::Follows => Error::malformed("model", "it is damaged"),
        };
        if !layer.is_model() || !layer.is_own() {
            return Err(wrong(unknown(layer)));
        }
        let model = model(layer).map_err(wrong)?;
        let wanted = self.wanted(&model).map_err(wrong)?;
        let outputs = self.output_names(&model);
        let names = Names { inputs: wanted.iter().map(|(name, _, _)| name.clone()).collect(), outputs };
        let inputs = self.inputs(wanted, &names)?;
        let path = String::new();
        let results = run(&mut self.means, &mut self.shared, &model, &path, "", inputs).map_err(wrong)?;
        self.outputs(results, &names)?;
        Ok(names)
    }
}

/// Lowers the layers of a model at a path, and gives its outputs.
pub(super) fn run<'m>(
    means: &mut Means<'m, 'static>,
    shared: &mut Shared<'m, '_>,
    model: &Model<'_>,
    path: &str,
    place: &str,
    inputs: Vec<Option<Slot>>,
) -> Lowered<Vec<Option<Slot>>> {
    if shared.depth >= DEEPEST {
        let help = "build the model of fewer levels";
        return Err(Refusal::unsupported(format!("models are nested more than {DEEPEST} deep"), help));
    }
    shared.depth += 1;
    let stored: HashMap<*const crate::keras::value::Value, String> = (model.stored().into_iter())
        .map(|(name, layer)| (std::ptr::from_ref(layer.config), joined(path, &format!("layers/{name}"))))
        .collect();
    let place_of =
        |layer: &Layer<'_>| stored.get(&std::ptr::from_ref(layer.config)).cloned().unwrap_or_default();
    let mut run = Run { means, shared, place };
    let results = match &model.kind {
        Kind::Sequential { .. } => run.sequence(model, &place_of, inputs),
        Kind::Functional { inputs: links, outputs } => run.calls(model, &place_of, links, outputs, inputs),
    };
    shared.depth -= 1;
    results
}

/// A path in a file.
pub(super) fn joined(path: &str, rest: &str) -> String {
    match (path, rest) {
        ("", rest) => rest.to_owned(),
        (path, "") => path.to_owned(),
        _ => format!("{path}/{rest}"),
    }
}

struct Run<'r, 'm, 'f> {
    means: &'r mut Means<'m, 'static>,
    shared: &'r mut Shared<'m, 'f>,
    /// Names of the models around, with slashes behind.
    place: &'r str,
}

type Paths<'p> = dyn Fn(&Layer<'_>) -> String + 'p;

impl Run<'_, '_, '_> {
    /// Layers one after the other.
    fn sequence(
        &mut self,
        model: &Model<'_>,
        paths: &Paths<'_>,
        mut values: Vec<Option<Slot>>,
    ) -> Lowered<Vec<Option<Slot>>> {
        for layer in model.layers.iter().filter(|layer| !layer.is_input()) {
            let given = match values[..] {
                [Some(slot)] => Some(vec![arguments::Arg::Slot(slot)]),
                _ if values.contains_none() => None,
                _ => Some(vec![arguments::Arg::List(
                    values.iter().flatten().map(|&slot| arguments::Arg::Slot(slot)).collect(),
                )]),
            };
            let given = given.map(|args| arguments::Given { args, kwargs: Vec::new() });
            values = self.layer(layer, &paths(layer), given.ok_or(Refusal::Follows))?;
        }
        Ok(values)
    }

    /// Calls, each behind those that it has operands of.
    fn calls(
        &mut self,
        model: &Model<'_>,
        paths: &Paths<'_>,
        inputs: &[Link<'_>],
        outputs: &[Link<'_>],
        values: Vec<Option<Slot>>,
    ) -> Lowered<Vec<Option<Slot>>> {
        malformed_if!(
            inputs.len() != values.len(),
            "it has {} inputs and gets {}",
            inputs.len(),
            values.len()
        );
        let mut calls: Vec<(&Layer<'_>, usize, Call)> = Vec::new();
        let mut numbers: HashMap<(&str, usize), usize> = HashMap::new();
        for layer in &model.layers {
            for (k, call) in layer.calls()?.into_iter().enumerate() {
                numbers.insert((layer.name, k), calls.len());
                calls.push((layer, k, call));
            }
        }
        let given: HashMap<(&str, usize), usize> =
            inputs.iter().enumerate().map(|(k, link)| ((link.layer, link.call), k)).collect();
        // How many operands a call waits for, and who waits for it.
        let mut waits = vec![0usize; calls.len()];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
        for (k, (_, _, call)) in calls.iter().enumerate() {
            let mut all = Vec::new();
            call.args.iter().for_each(|arg| links(arg, &mut all));
            call.kwargs.iter().for_each(|(_, arg)| links(arg, &mut all));
            for link in all {
                if given.contains_key(&(link.layer, link.call)) {
                    continue;
                }
                if let Some(&of) = numbers.get(&(link.layer, link.call)) {
                    waits[k] += 1;
                    waiting[of].push(k);
                }
            }
        }
        let mut results: Results<'_> = HashMap::new();
        for (link, value) in inputs.iter().zip(values) {
            results.insert(*link, value);
        }
        let mut ready: BTreeSet<usize> = (0..calls.len()).filter(|&k| waits[k] == 0).collect();
        while let Some(k) = ready.pop_first() {
            let (layer, number, call) = &calls[k];
            if !given.contains_key(&(layer.name, *number)) {
                self.call(layer, *number, call, &paths(layer), &mut results)?;
            }
            for &next in &waiting[k] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.insert(next);
                }
            }
        }
        let find = |link: &Link<'_>| match results.get(link) {
            Some(slot) => Ok(*slot),
            None if !self.means.report.is_empty() => Ok(None),
            None => Err(malformed!("no layer computes its output \"{}\"", short(link.layer))),
        };
        outputs.iter().map(find).collect()
    }

    fn call<'v>(
        &mut self,
        layer: &Layer<'v>,
        number: usize,
        call: &Call,
        path: &str,
        results: &mut Results<'v>,
    ) -> Lowered {
        if layer.is_input() {
            return Err(malformed!("input \"{}\" is none of the model's", short(layer.name)));
        }
        let place = format!("{}{}", self.place, layer.name);
        let given = {
            let find = |link: Link<'_>| match results.get(&link) {
                Some(slot) => slot.ok_or(Refusal::Follows),
                None => Err(malformed!("\"{}\" is used before it is computed", short(link.layer))),
            };
            let mut cx = self.means.hosted_cx(self.shared.host, short(&place), String::new());
            arguments::resolved(&mut cx, call, &find)
        };
        let slots = self.layer(layer, path, given)?;
        for (result, slot) in slots.into_iter().enumerate() {
            results.insert(Link { layer: layer.name, call: number, result }, slot);
        }
        Ok(())
    }

    /// One call of a layer; what it refuses is reported.
    fn layer(
        &mut self,
        layer: &Layer<'_>,
        path: &str,
        given: Lowered<arguments::Given>,
    ) -> Lowered<Vec<Option<Slot>>> {
        self.means.budget.charge(LAYER_BYTES)?;
        let index = self.shared.count;
        self.shared.count += 1;
        let before = self.means.graph.order.len();
        let is_known = layer.is_model() && layer.is_own() || layer.is_own() && find(layer).is_some();
        let place = format!("{}{}", self.place, short(layer.name));
        let lowered = match given {
            // What is not known at all is said wherever it stands.
            _ if !is_known => Err(unknown(layer)),
            Ok(given) => {
                self.note_begin(index, layer, &given);
                computed(self.means, self.shared, layer, path, &place, index, given)
            }
            Err(refusal) => Err(refusal),
        };
        match lowered {
            Ok(slots) => {
                self.note_end(index, layer, path, &slots);
                Ok(slots)
            }
            Err(refusal) => {
                let place = format!("layer \"{place}\" ({})", short(layer.class));
                self.means.report.refuse(place, Some((index, layer.class)), refusal)?;
                // What was made of it so far is not part of the model.
                self.means.graph.order.truncate(before);
                Ok(vec![None; MOST_REFUSED])
            }
        }
    }

    fn note_begin(&mut self, index: usize, layer: &Layer<'_>, given: &arguments::Given) {
        let Some(trace) = &mut self.shared.trace else { return };
        super::inspect::begin(trace, &self.means.graph, index, layer, given);
    }

    fn note_end(&mut self, index: usize, layer: &Layer<'_>, path: &str, slots: &[Option<Slot>]) {
        let bytes = super::inspect::weight_bytes(self.shared, layer, path);
        let Some(trace) = &mut self.shared.trace else { return };
        super::inspect::end(trace, &self.means.graph, index, slots, bytes);
    }
}

/// Results that stand for those of a refused layer, however many it has.
const MOST_REFUSED: usize = 8;

trait ContainsNone {
    fn contains_none(&self) -> bool;
}

impl ContainsNone for [Option<Slot>] {
    fn contains_none(&self) -> bool {
        self.iter().any(Option::is_none)
    }
}

/// What a layer computes.
pub(super) fn computed<'m>(
    means: &mut Means<'m, 'static>,
    shared: &mut Shared<'m, '_>,
    layer: &Layer<'_>,
    path: &str,
    place: &str,
    index: usize,
    given: arguments::Given,
) -> Lowered<Vec<Option<Slot>>> {
    if layer.is_model() {
        let model = model(layer)?;
        let inputs = given.tensors().into_iter().map(Some).collect();
        let refused = means.report.count();
        let results = run(means, shared, &model, path, &format!("{place}/"), inputs)?;
        // What was refused is reported where it stands.
        return match means.report.count() > refused {
            true => Err(Refusal::Follows),
            false => Ok(results),
        };
    }
    let lower = find(layer).filter(|_| layer.is_own()).ok_or_else(|| unknown(layer))?;
    let origin = format!("{index} {}", short(layer.class));
    let means = means.hosted_cx(shared.host, place.to_owned(), origin);
    let mut cx = Cx { means, shared, layer: *layer, path: path.to_owned(), index, given };
    cx.refuse_quantised()?;
    Ok(match lower {
        One(lower) => {
            let value = lower(&mut cx)?;
            let mask = mask::passed(&mut cx)?;
            vec![Some(Slot { value, mask })]
        }
        All(lower) => lower(&mut cx)?.into_iter().map(|value| Some(Slot::plain(value))).collect(),
        Slots(lower) => lower(&mut cx)?.into_iter().map(Some).collect(),
    })
}
