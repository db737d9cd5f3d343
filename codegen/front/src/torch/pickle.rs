//! Pickles, as `torch.jit.save` and `torch.save` write them: protocols 2 to 4.
//!
//! Nothing is executed. A pickle is read as a heap of items. The only functions and classes that it may name are those that tensors and modules consist of; every other name is
//! refused. Objects of classes of a few packages are their attributes. Items may refer to each other in circles. Whoever walks them counts the steps.

use super::lower::short;
use super::program::{Size, TensorMeta};
use crate::budget::Budget;
use kiln_ir::error::{Error, Problem};

/// A place in the heap.
pub(super) type Id = u32;

/// A value of a pickle.
pub(super) enum Item<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    /// Keys and values, one after the other.
    Dict(Vec<Id>),
    /// A class or function, by its place in [`KNOWN`], or a class of another package by its qualified name.
    Global(usize),
    Class(&'a str),
    /// An object of a class of another package, with its attributes.
    Object(&'a str, Option<Id>),
    /// A storage: its element type, and the name of its file.
    Storage(i64, &'a str),
    /// The arguments of a tensor: storage, offset, sizes, strides.
    Tensor([Id; 4]),
}

/// Functions and classes that are known, with what they are.
const KNOWN: &[(&str, &str, Known)] = &[
    ("collections", "OrderedDict", Known::Dict),
    ("torch", "BFloat16Storage", Known::Storage(15)),
    ("torch", "BoolStorage", Known::Storage(11)),
    ("torch", "ByteStorage", Known::Storage(0)),
    ("torch", "CharStorage", Known::Storage(1)),
    ("torch", "ComplexDoubleStorage", Known::Storage(10)),
    ("torch", "ComplexFloatStorage", Known::Storage(9)),
    ("torch", "DoubleStorage", Known::Storage(7)),
    ("torch", "FloatStorage", Known::Storage(6)),
    ("torch", "HalfStorage", Known::Storage(5)),
    ("torch", "IntStorage", Known::Storage(3)),
    ("torch", "LongStorage", Known::Storage(4)),
    ("torch", "ShortStorage", Known::Storage(2)),
    ("torch", "device", Known::First),
    ("torch._utils", "_rebuild_parameter", Known::First),
    ("torch._tensor", "_rebuild_from_type_v2", Known::Typed),
    ("torch._utils", "_rebuild_tensor_v2", Known::Tensor),
    ("torch._utils", "_rebuild_wrapper_subclass", Known::First),
    ("torch.jit._pickle", "build_boollist", Known::First),
    ("torch.jit._pickle", "build_doublelist", Known::First),
    ("torch.jit._pickle", "build_intlist", Known::First),
    ("torch.jit._pickle", "build_tensorlist", Known::First),
    ("torch.jit._pickle", "restore_type_tag", Known::First),
    ("torch.serialization", "_get_layout", Known::First),
];

/// What a known function or class makes of its arguments.
#[derive(Clone, Copy)]
enum Known {
    Tensor,
    /// An object: of a function, a class, arguments and attributes, it has the second and the last.
    Typed,
    Dict,
    /// The first one.
    First,
    /// Nothing: it is the class of a storage, with elements of that `ScalarType`, as PyTorch's code numbers them.
    Storage(i64),
}

/// Bytes that an item takes, while the list of items grows.
const ITEM_BYTES: usize = 80;

/// A pickle that was read.
pub(super) struct Pickle<'a> {
    items: Vec<Item<'a>>,
    pub(super) root: Id,
}

impl<'a> Pickle<'a> {
    /// Reads a file of that name. Classes of that package may be anything: objects of them are their attributes.
    pub(super) fn read(
        name: &str,
        bytes: &'a [u8],
        package: &str,
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let mut machine = Machine {
            name,
            package,
            bytes,
            at: 0,
            items: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            budget,
        };
        machine.run().map(|root| Pickle { items: machine.items, root })
    }

    /// How many items there are.
    pub(super) fn count(&self) -> Id {
        self.items.len() as Id
    }

    pub(super) fn item(&self, id: Id) -> &Item<'a> {
        self.items.get(id as usize).unwrap_or(&Item::None)
    }

    /// The values of a list or tuple.
    pub(super) fn list(&self, id: Id) -> Option<&[Id]> {
        match self.item(id) {
            Item::List(list) | Item::Tuple(list) => Some(list),
            _ => None,
        }
    }

    /// The integers of a tuple.
    pub(super) fn ints(&self, id: Id) -> Option<Vec<i64>> {
        let int = |&id: &Id| match self.item(id) {
            Item::Int(int) => Some(*int),
            _ => None,
        };
        self.list(id)?.iter().map(int).collect()
    }

    /// A tensor: the file of its storage, and what it shows of that.
    pub(super) fn tensor(&self, id: Id) -> Option<(&'a str, TensorMeta)> {
        let &Item::Tensor([storage, offset, sizes, strides]) = self.item(id) else { return None };
        let &Item::Storage(dtype, file) = self.item(storage) else { return None };
        let &Item::Int(offset) = self.item(offset) else { return None };
        let list = |id| Some(self.ints(id)?.into_iter().map(Size::Known).collect());
        let meta = TensorMeta {
            dtype: scalar_type(dtype),
            sizes: list(sizes)?,
            strides: list(strides)?,
            storage_offset: Some(Size::Known(offset)),
        };
        Some((file, meta))
    }

    /// The attribute of an object.
    pub(super) fn attribute(&self, object: Id, name: &str) -> Option<Id> {
        self.attributes(object).find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// What a dictionary has under that key.
    pub(super) fn value(&self, dict: Id, key: &str) -> Option<Id> {
        self.pairs(Some(dict)).find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// The attributes of an object.
    pub(super) fn attributes(&self, object: Id) -> impl Iterator<Item = (&'a str, Id)> + use<'_, 'a> {
        match self.item(object) {
            Item::Object(_, state) => self.pairs(*state),
            _ => self.pairs(None),
        }
    }

    /// The keys of a dictionary that are texts, with their values.
    fn pairs(&self, dict: Option<Id>) -> impl Iterator<Item = (&'a str, Id)> + use<'_, 'a> {
        let pairs: &[Id] = match dict.map(|dict| self.item(dict)) {
            Some(Item::Dict(pairs)) => pairs,
            _ => &[],
        };
        pairs.chunks_exact(2).filter_map(|pair| match self.item(pair[0]) {
            Item::Text(key) => Some((*key, pair[1])),
            _ => None,
        })
    }
}

struct Machine<'a, 'b> {
    name: &'b str,
    /// What classes of other packages begin with.
    package: &'b str,
    bytes: &'a [u8],
    at: usize,
    items: Vec<Item<'a>>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: Vec<(usize, Id)>,
    budget: &'b mut Budget,
}

impl<'a> Machine<'a, '_> {
    fn broken<T>(&self, what: &str) -> Result<T, Error> {
        Err(Error::malformed(self.name, format!("byte {}: {what}", self.at)))
    }

    fn refused<T>(&self, what: String) -> Result<T, Error> {
        let help = "save the module with torch.jit.save, with tensors, numbers, texts, lists and modules as attributes";
        let place = format!("{}, byte {}", self.name, self.at);
        Err(Error::Unsupported(vec![Problem { place, what, help: help.into() }]))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let taken = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end));
        match taken {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => self.broken("it ends too early"),
        }
    }

    fn number(&mut self, count: usize) -> Result<usize, Error> {
        let bytes = self.take(count)?;
        let number = bytes
            .iter()
            .rev()
            .try_fold(0u64, |number, &byte| Some(number.checked_mul(256)? | u64::from(byte)));
        match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number) => Ok(number),
            None => self.broken("a length is too large"),
        }
    }

    fn line(&mut self) -> Result<&'a str, Error> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            return self.broken("a line does not end");
        };
        let line = self.text(length)?;
        self.at += 1;
        Ok(line)
    }

    fn text(&mut self, length: usize) -> Result<&'a str, Error> {
        match std::str::from_utf8(self.take(length)?) {
            Ok(text) => Ok(text),
            Err(_) => self.broken("a text is not UTF-8"),
        }
    }

    fn push(&mut self, item: Item<'a>) -> Result<(), Error> {
        self.budget.charge(ITEM_BYTES)?;
        self.stack.push(self.items.len() as Id);
        self.items.push(item);
        Ok(())
    }

    fn pop(&mut self) -> Result<Id, Error> {
        // What stands before a mark is out of reach.
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.pop().filter(|_| self.stack.len() >= floor) {
            Some(id) => Ok(id),
            None => self.broken("a value is missing"),
        }
    }

    fn top(&mut self) -> Result<Id, Error> {
        let id = self.pop()?;
        self.stack.push(id);
        Ok(id)
    }

    /// The values behind the last mark.
    fn marked(&mut self) -> Result<Vec<Id>, Error> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => {
                self.budget.charge(4 * (self.stack.len() - mark))?;
                Ok(self.stack.split_off(mark))
            }
            _ => self.broken("a mark is missing"),
        }
    }

    fn several(&mut self, count: usize) -> Result<Vec<Id>, Error> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.pop()?);
        }
        all.reverse();
        Ok(all)
    }

    fn run(&mut self) -> Result<Id, Error> {
        loop {
            let code = self.take(1)?[0];
            match code {
                b'.' => return self.pop(),
                0x80 => {
                    let protocol = self.take(1)?[0];
                    if !(2..=4).contains(&protocol) {
                        return self
                            .refused(format!("it is a pickle of protocol {protocol}; 2 to 4 are read"));
                    }
                }
                0x95 => {
                    self.take(8)?;
                }
                b'(' => {
                    self.budget.charge(8)?;
                    self.marks.push(self.stack.len());
                }
                b'0' => {
                    self.pop()?;
                }
                b'1' => {
                    self.marked()?;
                }
                b'2' => {
                    let id = self.top()?;
                    self.budget.charge(4)?;
                    self.stack.push(id);
                }
                b'q' | b'r' | b'p' | 0x94 | b'h' | b'j' | b'g' => self.memorise(code)?,
                b'a' | b'e' | b's' | b'u' => self.fill(code)?,
                b'c' | 0x93 | b'R' | 0x81 | b'b' | b'Q' => self.object(code)?,
                _ => self.value(code)?,
            }
        }
    }

    /// Values of one kind.
    fn value(&mut self, code: u8) -> Result<(), Error> {
        let item = match code {
            b'N' => Item::None,
            0x88 => Item::Bool(true),
            0x89 => Item::Bool(false),
            b'K' => Item::Int(self.number(1)? as i64),
            b'M' => Item::Int(self.number(2)? as i64),
            b'J' => Item::Int(i64::from(self.number(4)? as u32 as i32)),
            0x8a => {
                let length = self.number(1)?;
                if length > 8 {
                    return self.refused("an integer has more than 64 bits".into());
                }
                let bytes = self.take(length)?;
                let negative = bytes.last().is_some_and(|&byte| byte & 0x80 != 0);
                let mut all = [if negative { 0xFF } else { 0 }; 8];
                all[..length].copy_from_slice(bytes);
                Item::Int(i64::from_le_bytes(all))
            }
            b'G' => {
                let bytes = self.take(8)?;
                Item::Float(bytes.try_into().map_or(0.0, f64::from_be_bytes))
            }
            b'X' => {
                let length = self.number(4)?;
                Item::Text(self.text(length)?)
            }
            0x8c | b'U' => {
                let length = self.number(1)?;
                Item::Text(self.text(length)?)
            }
            0x8d => {
                let length = self.number(8)?;
                Item::Text(self.text(length)?)
            }
            b'T' => {
                let length = self.number(4)?;
                Item::Text(self.text(length)?)
            }
            b']' => Item::List(Vec::new()),
            b'}' => Item::Dict(Vec::new()),
            b')' => Item::Tuple(Vec::new()),
            b'l' => Item::List(self.marked()?),
            b't' => Item::Tuple(self.marked()?),
            b'd' => Item::Dict(self.marked()?),
            0x85..=0x87 => Item::Tuple(self.several(usize::from(code - 0x84))?),
            _ => return self.refused(format!("operation {code:#04x} of pickles is not read")),
        };
        self.push(item)
    }

    fn memorise(&mut self, code: u8) -> Result<(), Error> {
        let is_put = matches!(code, b'q' | b'r' | b'p' | 0x94);
        let at = match code {
            b'q' | b'h' => self.number(1)?,
            b'r' | b'j' => self.number(4)?,
            0x94 => self.memo.len(),
            _ => match self.line()?.parse() {
                Ok(at) => at,
                Err(_) => return self.broken("a place is no number"),
            },
        };
        // Places are given in order. Who leaves some out is looked up.
        let place = self.memo.partition_point(|&(known, _)| known < at);
        let known = self.memo.get(place).filter(|(known, _)| *known == at).map(|&(_, id)| id);
        if is_put {
            let id = self.top()?;
            match known {
                Some(_) => self.memo[place].1 = id,
                None if place == self.memo.len() => {
                    self.budget.charge(16)?;
                    self.memo.push((at, id));
                }
                None => return self.refused("places are not in order".into()),
            }
            return Ok(());
        }
        let Some(id) = known else { return self.broken("nothing stands at a place") };
        self.budget.charge(4)?;
        self.stack.push(id);
        Ok(())
    }

    /// Puts values into the list or dictionary below.
    fn fill(&mut self, code: u8) -> Result<(), Error> {
        let mut values = match code {
            b'a' => self.several(1)?,
            b's' => self.several(2)?,
            _ => self.marked()?,
        };
        let into = self.top()?;
        self.budget.charge(8 * values.len())?;
        match (self.items.get_mut(into as usize), code) {
            (Some(Item::List(list)), b'a' | b'e') => list.append(&mut values),
            (Some(Item::Dict(pairs)), b's' | b'u') if values.len() % 2 == 0 => pairs.append(&mut values),
            _ => return self.broken("it puts values into what is no list and no dictionary"),
        }
        Ok(())
    }

    /// Functions, classes and what they make.
    fn object(&mut self, code: u8) -> Result<(), Error> {
        match code {
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                let whole = &self.bytes[self.at - module.len() - name.len() - 2..self.at - 1];
                self.global(module, name, whole)
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (self.known(module), self.known(name)) {
                    (Item::Text(module), Item::Text(name)) => {
                        let (module, name) = (*module, *name);
                        if self.is_of_package(module) {
                            return self.refused(format!("it names the class {module}.{name} in two parts"));
                        }
                        self.global(module, name, &[])
                    }
                    _ => self.broken("a function without a name"),
                }
            }
            0x81 => {
                let (_, class) = (self.pop()?, self.pop()?);
                match *self.known(class) {
                    Item::Class(name) => self.push(Item::Object(name, None)),
                    Item::Global(at) if matches!(KNOWN[at].2, Known::Dict) => {
                        self.push(Item::Dict(Vec::new()))
                    }
                    _ => self.broken("it makes an object of what is no class"),
                }
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                match self.items.get_mut(object as usize) {
                    Some(Item::Object(_, own)) => *own = Some(state),
                    Some(Item::Dict(_)) => {}
                    _ => return self.broken("it gives attributes to what is no object"),
                }
                Ok(())
            }
            b'R' => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments)
            }
            _ => self.storage(),
        }
    }

    fn known(&self, id: Id) -> &Item<'a> {
        self.items.get(id as usize).unwrap_or(&Item::None)
    }

    fn is_of_package(&self, module: &str) -> bool {
        module.strip_prefix(self.package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    fn global(&mut self, module: &'a str, name: &'a str, whole: &'a [u8]) -> Result<(), Error> {
        if self.is_of_package(module) {
            // Both, and the end of a line between them.
            return match std::str::from_utf8(whole) {
                Ok(whole) => self.push(Item::Class(whole)),
                Err(_) => self.broken("a name is not UTF-8"),
            };
        }
        if module == "torch" && is_element_type(name) {
            return self.push(Item::Text(name));
        }
        match KNOWN.iter().position(|(of, known, _)| (*of, *known) == (module, name)) {
            Some(at) => self.push(Item::Global(at)),
            None => {
                let (module, name) = (short(module), short(name));
                self.refused(format!("it refers to {module}.{name}, and nothing of a pickle is executed"))
            }
        }
    }

    fn call(&mut self, function: Id, arguments: Id) -> Result<(), Error> {
        let Item::Tuple(given) = self.known(arguments) else {
            return self.broken("a function has no arguments");
        };
        let known = match *self.known(function) {
            Item::Global(at) => KNOWN[at].2,
            // Members of enumerations are called with their number.
            Item::Class(name) => {
                let state = given.first().copied();
                return self.push(Item::Object(name, state));
            }
            _ => return self.broken("it calls what is no function"),
        };
        match (known, given.as_slice()) {
            (Known::Tensor, &[storage, offset, sizes, strides, ..]) => {
                self.push(Item::Tensor([storage, offset, sizes, strides]))
            }
            (Known::Typed, &[_, class, _, state, ..]) => match *self.known(class) {
                Item::Class(name) => self.push(Item::Object(name, Some(state))),
                _ => self.broken("it makes an object of what is no class"),
            },
            (Known::Dict, _) => self.push(Item::Dict(Vec::new())),
            (Known::First, &[first, ..]) => {
                self.budget.charge(4)?;
                self.stack.push(first);
                Ok(())
            }
            _ => self.broken("a function has too few arguments"),
        }
    }

    /// A storage, named by a tuple: `("storage", class, file, device, elements)`.
    fn storage(&mut self) -> Result<(), Error> {
        let id = self.pop()?;
        let Item::Tuple(parts) = self.known(id) else { return self.broken("a storage has no name") };
        let part = |k: usize| parts.get(k).map(|&id| self.known(id));
        match (part(0), part(1), part(2)) {
            (Some(Item::Text("storage")), Some(Item::Global(at)), Some(&Item::Text(file))) => {
                match KNOWN[*at].2 {
                    Known::Storage(dtype) => self.push(Item::Storage(dtype, file)),
                    _ => self.broken("a storage has no class"),
                }
            }
            _ => self.broken("a storage has no name"),
        }
    }
}

/// Whether PyTorch calls an element type so: `float32`, `int4`, `bool`.
fn is_element_type(name: &str) -> bool {
    let kinds = ["bfloat", "complex", "float", "int", "uint"];
    let bits = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    name == "bool"
        || bits.is_some_and(|bits| matches!(bits.len(), 1..=2) && bits.bytes().all(|c| c.is_ascii_digit()))
}

/// The number that exported programs have for an element type, of the number that PyTorch's code has.
pub(super) fn scalar_type(number: i64) -> i64 {
    match number {
        0..=11 => number + 1,
        15 => 13,
        12..=14 | 16 | 17 => 14,
        _ => -1,
    }
}
