//! Resource variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE and CALL_ONCE.
//!
//! A variable becomes a [`State`](kiln_ir::State) where an invocation reads it before writing it. Reads and writes
//! follow program order: a read behind a write sees the written value. What a variable holds at first is what the
//! initialisation subgraph of CALL_ONCE assigns, else TFLite Micro's default (every byte the zero point's low byte).

use super::cx::{describe, OpCx};
use super::tensor::some_elements;
use super::{Importer, Layout, Lowered, Operators, Refusal, Slot};
use kiln_ir::{Data, Type, ValueId};
use std::collections::HashMap;

pub(super) const OPERATORS: Operators =
    &[(129, call_once), (142, var_handle), (143, read_variable), (144, assign_variable)];

/// Longest name of a variable.
const LONGEST_NAME: usize = 4096;

/// The variables of a model.
#[derive(Default)]
pub(super) struct Resources<'a> {
    /// By container and shared name.
    index: HashMap<(&'a [u8], &'a [u8]), usize>,
    all: Vec<Resource>,
}

struct Resource {
    name: String,
    /// Assigned by CALL_ONCE.
    init: Option<(Type, Data)>,
    /// Its value at this point of the program.
    current: Option<ValueId>,
    /// Its index among the graph's states.
    state: Option<usize>,
}

impl<'a> Resources<'a> {
    /// The variable of that name, which may be new.
    fn find(&mut self, container: &'a [u8], shared_name: &'a [u8]) -> Lowered<usize> {
        if container.len() > LONGEST_NAME || shared_name.len() > LONGEST_NAME {
            return Err(malformed!("a variable's name has over {LONGEST_NAME} bytes"));
        }
        let next = self.all.len();
        let found = *self.index.entry((container, shared_name)).or_insert(next);
        if found == next {
            let name = String::from_utf8_lossy(shared_name).into_owned();
            self.all.push(Resource { name, init: None, current: None, state: None });
        }
        Ok(found)
    }

    fn get(&mut self, resource: usize) -> Lowered<&mut Resource> {
        self.all.get_mut(resource).ok_or_else(|| malformed!("a variable's handle is damaged"))
    }
}

/// VAR_HANDLE: no computation, a name for a variable.
fn var_handle(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (container, shared_name) = cx.options(111)?.variable()?;
    let resource = cx.importer.resources.find(container, shared_name)?;
    cx.bind_handle(0, resource);
    Ok(())
}

/// READ_VARIABLE.
fn read_variable(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let handle = cx.handle(0)?;
    let declared = cx.declared(0)?;
    let value = match cx.importer.resources.get(handle)?.current {
        Some(value) => value,
        None => cx.importer.new_state(handle, declared.clone())?,
    };
    let held = cx.ty(value).clone();
    if held.dtype != declared.dtype || held.shape.numel() != declared.shape.numel() {
        let what = format!("a variable that holds {} is read as {}", describe(&held), describe(&declared));
        return Err(Refusal::malformed(what));
    }
    if held == declared {
        return cx.bind(0, value);
    }
    // Bytes are copied, whatever they mean on either side.
    let dims = declared.shape.0;
    cx.emit_reshaped(value, 0, &dims)
}

/// ASSIGN_VARIABLE.
fn assign_variable(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let handle = cx.handle(0)?;
    let value = cx.input(1)?;
    let ty = cx.ty(value).clone();
    let resource = cx.importer.resources.get(handle)?;
    let init = resource.init.as_ref().map(|(ty, _)| ty);
    let held = resource.current.map(|v| cx.importer.graph.ty(v)).or(init);
    if held.is_some_and(|held| held.dtype != ty.dtype || held.shape != ty.shape) {
        return Err(malformed!(
            "a variable that holds {} is assigned {}",
            describe_held(held),
            describe(&ty)
        ));
    }
    cx.importer.resources.get(handle)?.current = Some(value);
    cx.importer.writes += 1;
    Ok(())
}

fn describe_held(ty: Option<&Type>) -> String {
    ty.map(describe).unwrap_or_default()
}

impl OpCx<'_, '_, '_> {
    /// The type of operand `k` as the file declares it.
    pub(super) fn declared_input(&mut self, k: usize) -> Lowered<Type> {
        let index = self.input_tensor(k)?;
        let Some(tensor) = self.importer.sub.tensor(index) else {
            return Err(malformed!("there is no tensor {index}"));
        };
        self.importer.tensor_type(tensor)
    }

    /// What operand `k`, a variable tensor that the operator keeps for itself, holds: a state of type `ty`, which begins as `init` or cleared. How the state is arranged is
    /// the operator's own business, so that no other operator may use the tensor otherwise.
    pub(super) fn variable(&mut self, k: usize, ty: Type, init: Option<Data>) -> Lowered<ValueId> {
        let index = self.input_tensor(k)?;
        match self.importer.slot(index) {
            Slot::Value(value) if self.ty(value) == &ty && !self.is_const(value) => return Ok(value),
            Slot::Empty if self.importer.sub.tensor(index).is_some_and(|tensor| tensor.is_variable) => {}
            Slot::Empty => return Err(malformed!("its state (operand {k}) is not a variable")),
            Slot::Refused => return Err(Refusal::Follows),
            Slot::Value(_) | Slot::Constant(_) | Slot::Handle(_) => {
                let what = format!("an operator of another kind also uses its state (operand {k})");
                return Err(Refusal::unsupported(what, "give each operator a separate state"));
            }
        }
        some_elements(&ty, "a state")?;
        self.importer.check_state_here()?;
        let name = self.importer.sub.tensor(index).map(|tensor| tensor.name.text()).unwrap_or_default();
        let cleared = self.importer.cleared(&ty)?;
        let value = self.importer.graph.add_state(name, ty, init.unwrap_or(cleared));
        self.importer.set_slot(index, Slot::Value(value));
        Ok(value)
    }

    /// Lets the variable tensor that is operand `k`, and held `old` so far, hold `new`.
    pub(super) fn set_variable(&mut self, k: usize, old: ValueId, new: ValueId) -> Lowered {
        let index = self.input_tensor(k)?;
        self.importer.write_variable(old, new)?;
        self.importer.set_slot(index, Slot::Value(new));
        Ok(())
    }
}

/// CALL_ONCE: the subgraph may only assign constants to variables, and does so before everything else.
fn call_once(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let index = cx.options(103)?.init_subgraph()?;
    let importer = &mut *cx.importer;
    let model = importer.model;
    let sub = usize::try_from(index).ok().filter(|&i| i > 0).and_then(|i| model.subgraphs.get(i));
    let Some(sub) = sub else {
        return Err(malformed!("initialisation subgraph {index} does not exist"));
    };
    if importer.resources.all.iter().any(|r| r.current.is_some() || r.init.is_some()) {
        let help = "initialise all variables in one place, before they are used";
        return Err(Refusal::unsupported("variables are in use before they are initialised", help));
    }
    let mut handles = HashMap::new();
    for (i, operator) in sub.operators.iter().enumerate() {
        importer.budget.charge(super::OPERATOR_BYTES).map_err(Refusal::Fatal)?;
        let Some(code) = model.code(operator) else {
            return Err(malformed!("operator {i} of subgraph {index} has no operator code"));
        };
        let options = super::super::options::Options(operator.options);
        match code.builtin {
            142 => {
                let (container, shared_name) = options.variable()?;
                let resource = importer.resources.find(container, shared_name)?;
                handles.extend(operator.outputs.get(0).map(|tensor| (tensor, resource)));
            }
            144 => {
                let handle = operator.inputs.get(0).and_then(|tensor| handles.get(&tensor)).copied();
                let value = operator.inputs.get(1).and_then(|tensor| sub.tensor(tensor));
                let (Some(handle), Some(value)) = (handle, value) else {
                    return Err(malformed!("operator {i} of subgraph {index} assigns nothing"));
                };
                let Some(init) = importer.constant(value, Layout::Plain)? else {
                    let what = format!("subgraph {index} initialises a variable with a computed value");
                    return Err(Refusal::unsupported(what, "initialise variables with constants"));
                };
                importer.resources.get(handle)?.init = Some(init);
            }
            _ => {
                let what = format!("subgraph {index} initialises variables with {}", code.name());
                return Err(Refusal::unsupported(what, "initialise variables with constants"));
            }
        }
    }
    Ok(())
}

impl Importer<'_, '_> {
    /// Makes a state of a variable that is read before it is written, and returns the value it begins with.
    fn new_state(&mut self, handle: usize, declared: Type) -> Lowered<ValueId> {
        let resource = self.resources.get(handle)?;
        let (name, init) = (resource.name.clone(), resource.init.clone());
        let (ty, data) = match init {
            Some((ty, data)) => (ty, data),
            None => {
                let data = self.cleared(&declared)?;
                (declared, data)
            }
        };
        some_elements(&ty, "a variable")?;
        let state = self.graph.states.len();
        let value = self.graph.add_state(name, ty, data);
        let resource = self.resources.get(handle)?;
        resource.current = Some(value);
        resource.state = Some(state);
        Ok(value)
    }

    /// Notes that an operator wrote a variable tensor, whose value so far was `old`.
    pub(super) fn write_variable(&mut self, old: ValueId, new: ValueId) -> Lowered {
        self.writes += 1;
        let (held, ty) = (self.graph.ty(old), self.graph.ty(new));
        if held.dtype != ty.dtype || held.shape != ty.shape {
            return Err(malformed!("a variable that holds {} is assigned {}", describe(held), describe(ty)));
        }
        match self.graph.states.iter_mut().find(|state| state.next == old) {
            Some(state) => state.next = new,
            None => return Err(malformed!("a tensor that is not a variable is written twice")),
        }
        Ok(())
    }

    /// Lets every state take the value its variable has at the end.
    pub(super) fn finish_states(&mut self) {
        for resource in &self.resources.all {
            if let (Some(state), Some(next)) = (resource.state, resource.current) {
                if let Some(state) = self.graph.states.get_mut(state) {
                    state.next = next;
                }
            }
        }
    }
}
