//! Variables: constants, whose values come from the files of the model, or states where an inference writes them.

use super::call::Call;
use super::slot::{List, Slot};
use super::{short, Deep, Importer, Lowered, Operators, Refusal, Slots};
use crate::onnx::lower::NodeCx;
use crate::tensorflow::body::Source;
use crate::tensorflow::proto::Node;
use crate::tensorflow::tensor;
use kiln_ir::error::Error;
use kiln_ir::{DType, State, ValueDef, ValueId};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("Assign", Deep(assign)),
    ("AssignAdd", Deep(|importer, call| update(importer, call, |cx, x, y| cx.sum(x, y)))),
    ("AssignAddVariableOp", Deep(|importer, call| update(importer, call, |cx, x, y| cx.sum(x, y)))),
    ("AssignSub", Deep(|importer, call| update(importer, call, |cx, x, y| cx.difference(x, y)))),
    ("AssignSubVariableOp", Deep(|importer, call| update(importer, call, |cx, x, y| cx.difference(x, y)))),
    ("AssignVariableOp", Deep(assign)),
    ("DisableCopyOnRead", Slots(|_| Ok(Vec::new()))),
    ("IsVariableInitialized", Deep(is_initialised)),
    ("ReadVariableOp", Deep(read)),
    ("ResourceGather", Deep(|importer, call| with_value(importer, call, "Gather"))),
    ("ResourceGatherNd", Deep(|importer, call| with_value(importer, call, "GatherNd"))),
    ("ResourceScatterAdd", Deep(|importer, call| scatter(importer, call, "add"))),
    ("ResourceScatterMax", Deep(|importer, call| scatter(importer, call, "max"))),
    ("ResourceScatterMin", Deep(|importer, call| scatter(importer, call, "min"))),
    ("ResourceScatterMul", Deep(|importer, call| scatter(importer, call, "mul"))),
    ("ResourceScatterUpdate", Deep(|importer, call| scatter(importer, call, "none"))),
    ("RestoreV2", Slots(restored)),
    ("VarHandleOp", Deep(handle)),
    ("VarIsInitializedOp", Deep(is_initialised)),
    ("Variable", Deep(handle)),
    ("VariableShape", Deep(shape)),
    ("VariableV2", Deep(handle)),
];

/// What has a name and may change.
#[derive(Clone)]
pub(super) struct Resource<'p> {
    pub(super) name: String,
    pub(super) kind: Kind<'p>,
    /// Whether an inference writes it.
    pub(super) is_written: bool,
    /// Whether one has written it already.
    pub(super) is_set: bool,
    /// The state that it is.
    state: Option<ValueId>,
}

#[derive(Clone)]
pub(super) enum Kind<'p> {
    Variable(Option<Slot<'p>>),
    /// Keys and values of a table.
    Table(Option<(ValueId, ValueId)>),
    /// Elements of an array (`TensorArrayV3`).
    Array(Rc<List>),
}

/// The name of the variable that a node stands for.
pub(super) fn variable_name(node: &Node<'_>) -> String {
    let shared = node.attributes.bytes("shared_name").ok().flatten().unwrap_or_default();
    match std::str::from_utf8(shared) {
        Ok(name) if !name.is_empty() => name.to_owned(),
        _ => node.name.to_owned(),
    }
}

fn handle<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let name = variable_name(call.node);
    let number = importer.resource(name, Kind::Variable(None))?;
    Ok(vec![Slot::Resource(number)])
}

/// Keys of variables as values, where the name of the files is of no interest.
fn restored<'p>(cx: &mut super::Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    let Slot::Texts(keys) = cx.slot(1)? else {
        return Err(Refusal::unsupported(
            "the names of what it restores are not constant",
            "save the model again",
        ));
    };
    Ok(keys.iter().map(|key| Slot::Stored(key)).collect())
}

fn read<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let value = importer.read_variable(call, 0)?;
    Ok(vec![Slot::Tensor(value)])
}

fn shape<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let value = importer.read_variable(call, 0)?;
    let dims: Vec<i64> = importer.means.graph.ty(value).shape.dims().iter().map(|&dim| dim as i64).collect();
    let dtype = super::declared(call.node, "out_type")?.unwrap_or(DType::I32);
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    Ok(vec![Slot::Tensor(cx.int_constant("shape", dtype, &[dims.len()], &dims)?)])
}

fn is_initialised<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    Ok(vec![Slot::Tensor(cx.truth(true))])
}

fn assign<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let slot = call.slot(1)?.clone();
    importer.write_variable(call, slot)
}

fn update<'p>(
    importer: &mut Importer<'_, 'p>,
    call: &Call<'p>,
    function: impl Fn(&mut NodeCx<'_, '_, 'static>, ValueId, ValueId) -> Lowered<ValueId>,
) -> Lowered<Vec<Slot<'p>>> {
    let (own, by) = (importer.read_variable(call, 0)?, call.slot(1)?.tensor()?);
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let value = function(&mut cx, own, by)?;
    importer.write_variable(call, Slot::Tensor(value))
}

/// An operator of the variable's value, instead of the variable.
fn with_value<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>, op: &str) -> Lowered<Vec<Slot<'p>>> {
    let value = importer.read_variable(call, 0)?;
    let mut operands = call.operands.clone();
    operands[0] = Slot::Tensor(value);
    let means = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let mut cx = super::Cx { means, node: call.node, operands };
    match op {
        "Gather" => super::gather::gather(&mut cx),
        _ => super::gather::gather_nd(&mut cx),
    }
    .map(|value| vec![Slot::Tensor(value)])
}

/// Rows of a variable that are replaced, or changed.
fn scatter<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>, how: &str) -> Lowered<Vec<Slot<'p>>> {
    let own = importer.read_variable(call, 0)?;
    let (indices, updates) = (call.slot(1)?.tensor()?, call.slot(2)?.tensor()?);
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let dims = [&cx.dims(indices)[..], &[1]].concat();
    let indices = cx.reshaped(indices, &dims)?;
    let value = cx.call(
        "ScatterND",
        &[Some(own), Some(indices), Some(updates)],
        &[("reduction", crate::onnx::lower::Set::Text(how))],
    )?;
    importer.write_variable(call, Slot::Tensor(value))
}

impl<'p> Importer<'_, 'p> {
    /// The number of what has that name.
    pub(super) fn resource(&mut self, name: String, kind: Kind<'p>) -> Lowered<usize> {
        if let Some(&number) = self.named.get(&name) {
            return Ok(number);
        }
        self.means.budget.charge(256)?;
        let number = self.resources.len();
        let is_written = self.written.contains(&name);
        self.named.insert(name.clone(), number);
        self.resources.push(Resource { name, kind, is_written, is_set: false, state: None });
        Ok(number)
    }

    /// The number of the variable that operand `k` is.
    fn variable(&self, call: &Call<'p>, k: usize) -> Lowered<usize> {
        match call.slot(k)? {
            &Slot::Resource(number) => Ok(number),
            Slot::Refused => Err(Refusal::Follows),
            _ => Err(malformed!("operand {k} is no variable")),
        }
    }

    /// The value of the variable that operand `k` is, or of the tensor that it is: old operators read variables that they are given.
    pub(super) fn read_variable(&mut self, call: &Call<'p>, k: usize) -> Lowered<ValueId> {
        match call.slot(k)? {
            Slot::Tensor(value) => Ok(*value),
            _ => {
                let number = self.variable(call, k)?;
                self.variable_value(number)
            }
        }
    }

    /// The value of a variable.
    pub(super) fn variable_value(&mut self, number: usize) -> Lowered<ValueId> {
        let resource =
            self.resources.get(number).cloned().ok_or_else(|| malformed!("there is no such variable"))?;
        let name = short(&resource.name);
        let slot = match resource.kind {
            Kind::Variable(Some(Slot::Tensor(value)))
                if resource.state.is_some() || resource.is_set || !resource.is_written =>
            {
                return Ok(value);
            }
            Kind::Variable(slot) => slot,
            _ => return Err(malformed!("\"{name}\" is no variable")),
        };
        let value = match slot {
            Some(Slot::Tensor(value)) => value,
            Some(Slot::Stored(key)) => self.stored(key, &name)?,
            Some(Slot::Refused) => return Err(Refusal::Follows),
            _ => match self.stored_by_name(&resource.name)? {
                Some(value) => value,
                None => return Err(without_value(&name, self.model.bundle.is_none())),
            },
        };
        let graph = &mut self.means.graph;
        let value = match (resource.is_written, graph.const_data(value).cloned()) {
            (true, Some(init)) if !resource.is_set => {
                let ty = graph.ty(value).clone();
                self.means.budget.charge(ty.bytes())?;
                let state = graph.add_state(name, ty, init);
                self.resources[number].state = Some(state);
                state
            }
            _ => value,
        };
        self.resources[number].kind = Kind::Variable(Some(Slot::Tensor(value)));
        Ok(value)
    }

    /// A constant of what the files have under a key.
    fn stored(&mut self, key: &[u8], name: &str) -> Lowered<ValueId> {
        let Some(bundle) = &self.model.bundle else { return Err(without_value(name, true)) };
        let Some((entry, bytes)) = bundle.find(key)? else {
            return Err(malformed!(
                "the files of the variables have no \"{}\"",
                short(&String::from_utf8_lossy(key))
            ));
        };
        let (ty, data) =
            tensor::elements(entry.dtype, &entry.dims, bytes, &mut self.means.budget).map_err(|refusal| {
                match refusal {
                    Refusal::Malformed(what) => malformed!("variable \"{name}\": {what}"),
                    Refusal::Unsupported(what, help) => {
                        Refusal::Unsupported(format!("variable \"{name}\": {what}"), help)
                    }
                    other => other,
                }
            })?;
        Ok(self.means.graph.add_const(name, ty, data))
    }

    /// What the files have under the name of a variable, where no operator restores it.
    fn stored_by_name(&mut self, name: &str) -> Lowered<Option<ValueId>> {
        let Some(bundle) = &self.model.bundle else { return Ok(None) };
        let checkpointed = format!("{name}/.ATTRIBUTES/VARIABLE_VALUE");
        for key in [name, &checkpointed] {
            if bundle.find(key.as_bytes())?.is_some() {
                return self.stored(key.as_bytes(), &short(name)).map(Some);
            }
        }
        if let Some(copy) = self.copy_of(name) {
            return Ok(Some(self.variable_value(copy)?));
        }
        // An object in another one has its path in front.
        let suffix = format!("/{checkpointed}");
        let mut ends = bundle.keys().filter(|key| key.ends_with(suffix.as_bytes()));
        match (ends.next().map(<[u8]>::to_vec), ends.next()) {
            (Some(key), None) => self.stored(&key, &short(name)).map(Some),
            _ => Ok(None),
        }
    }

    /// The variable that begins as a copy of another one, if it is restored: Keras saves such copies.
    fn copy_of(&self, name: &str) -> Option<usize> {
        let body = &self.model.body;
        let operand = |node: usize, k: usize| match *body.edges.get(node)?.operands.get(k)? {
            Source::Node(node, _) => Some(node),
            Source::Argument(_) => None,
        };
        let copies = (0..body.nodes.len()).filter(|&node| body.nodes[node].op == "AssignVariableOp");
        let mut begun = copies.filter_map(|node| {
            let (target, mut value) = (operand(node, 0)?, operand(node, 1)?);
            if body.nodes[value].op == "Identity" {
                value = operand(value, 0)?;
            }
            let from = (body.nodes[value].op == "ReadVariableOp").then(|| operand(value, 0))??;
            let is_it = body.nodes[from].op == "VarHandleOp" && variable_name(&body.nodes[from]) == name;
            is_it.then(|| self.named.get(&variable_name(&body.nodes[target])).copied())?
        });
        begun.find(|&number| {
            let own = &self.resources[number];
            own.name != name && matches!(own.kind, Kind::Variable(Some(Slot::Stored(_) | Slot::Tensor(_))))
        })
    }

    fn write_variable(&mut self, call: &Call<'p>, slot: Slot<'p>) -> Lowered<Vec<Slot<'p>>> {
        let number = self.variable(call, 0)?;
        let before = self.before(&call.guards);
        let Some(Resource { kind: Kind::Variable(own), is_set, .. }) = self.resources.get_mut(number) else {
            return Err(malformed!("it writes what is no variable"));
        };
        (*own, *is_set) = (Some(slot), true);
        self.guard_variables(&call.guards, &before, call)?;
        Ok(match call.node.op.ends_with("VariableOp") {
            true => Vec::new(),
            // Old operators give the variable.
            false => vec![call.slot(0)?.clone()],
        })
    }

    /// What all variables are, in their order.
    pub(super) fn values_of_variables(&self) -> Vec<Slot<'p>> {
        let value = |resource: &Resource<'p>| match &resource.kind {
            Kind::Variable(Some(slot)) => slot.clone(),
            Kind::Variable(None) | Kind::Table(_) => Slot::Opaque,
            Kind::Array(list) => Slot::List(list.clone()),
        };
        self.resources.iter().map(value).collect()
    }

    pub(super) fn set_variables(&mut self, values: &[Slot<'p>]) {
        for (resource, slot) in self.resources.iter_mut().zip(values) {
            match (&mut resource.kind, slot) {
                // A state that was made meanwhile is what the variable was.
                (Kind::Variable(own), Slot::Opaque | Slot::Stored(_)) => {
                    *own = match (resource.state, slot) {
                        (Some(state), _) => Some(Slot::Tensor(state)),
                        (None, Slot::Opaque) => None,
                        (None, slot) => Some(slot.clone()),
                    };
                }
                (Kind::Variable(own), slot) => *own = Some(slot.clone()),
                (Kind::Array(own), Slot::List(list)) => own.clone_from(list),
                _ => {}
            }
        }
    }

    /// What all variables are before a node that runs under these conditions.
    pub(super) fn before(&mut self, guards: &[super::run::Guard]) -> Vec<Slot<'p>> {
        if guards.is_empty() {
            return Vec::new();
        }
        self.settle();
        self.values_of_variables()
    }

    /// Makes states of all variables that are written at all: a branch may read or write what another one does not.
    pub(super) fn settle(&mut self) {
        for number in 0..self.resources.len() {
            if self.resources[number].is_written {
                // One without a value may not be read.
                let _ = self.variable_value(number);
            }
        }
    }

    /// Lets variables be what they were before where the conditions of a node do not hold.
    pub(super) fn guard_variables(
        &mut self,
        guards: &[super::run::Guard],
        before: &[Slot<'p>],
        call: &Call<'p>,
    ) -> Lowered {
        if guards.is_empty() {
            return Ok(());
        }
        let after = self.values_of_variables();
        self.set_variables(before);
        let before = self.values_of_variables();
        let mut values = after;
        for &guard in guards {
            values = self.each(guard, values, before.clone(), call)?;
        }
        self.set_variables(&values);
        Ok(())
    }

    /// Gives the states the values that an inference leaves.
    pub(super) fn states(&mut self) -> Result<(), Error> {
        for resource in std::mem::take(&mut self.resources) {
            let (Some(state), Kind::Variable(Some(slot))) = (resource.state, resource.kind) else { continue };
            let graph = &mut self.means.graph;
            let Some(at) = graph.states.iter().position(|own| own.current == state) else { continue };
            let next = slot.tensor().and_then(|next| {
                let (own, new) = (graph.ty(state), graph.ty(next));
                malformed_if!(own != new, "{new} cannot be written into {own}");
                Ok(next)
            });
            match next {
                // Nothing writes it after all.
                Ok(next) if next == state => {
                    let State { init, .. } = graph.states.remove(at);
                    graph.value_mut(state).def = ValueDef::Const(init);
                }
                Ok(next) => graph.states[at].next = next,
                Err(refusal) => {
                    let place = format!("variable \"{}\"", short(&resource.name));
                    self.means.report.refuse(place, None, refusal)?;
                }
            }
        }
        Ok(())
    }
}

fn without_value(name: &str, without_files: bool) -> Refusal {
    let what = format!("variable \"{name}\" has no value");
    let help = match without_files {
        true => "give the path of the SavedModel's folder, in which `variables` lies: the value is there",
        false => "save the model again after its variables are initialised",
    };
    Refusal::unsupported(what, help)
}
