//! Operations, regions and functions.

use super::cursor::{Cursor, Parsed};
use super::file::{section_name, File, OperationName, OPERATIONS, VHLO};
use super::upgrade;
use crate::stablehlo::module::{Attribute, Attributes, Function, Module, Operation, Region, Type, Value};
use std::borrow::Cow;

/// How deep regions may lie in one another.
const DEPTH: usize = 64;

/// What an operation has, by the bits of its mask.
const HAS_ATTRIBUTES: u8 = 1;
const HAS_RESULTS: u8 = 2;
const HAS_OPERANDS: u8 = 4;
const HAS_SUCCESSORS: u8 = 8;
const HAS_REGIONS: u8 = 16;
const HAS_USE_ORDERS: u8 = 32;
const HAS_PROPERTIES: u8 = 64;

/// The operations at the ends of regions.
const FUNCTION_END: &str = "func.return";
const REGION_END: &str = "stablehlo.return";

/// An operation without its regions. Attributes are named by their numbers.
struct Head<'m> {
    name: OperationName<'m>,
    location: u64,
    attributes: Vec<(Cow<'m, str>, u64)>,
    results: Vec<Type>,
    operands: Vec<u64>,
    regions: usize,
    /// Whether its regions use no values from outside.
    is_isolated: bool,
}

/// The values of a function, as far as it has been read.
#[derive(Default)]
struct Scope {
    types: Vec<Type>,
    /// The regions around what is being read.
    levels: Vec<Level>,
    /// Locations of arguments of regions; those of the function are the first.
    locations: Vec<Option<u64>>,
}

/// The values of a region. In the file they are numbered on from those of the region around it.
struct Level {
    first: u64,
    /// How many the region has in all.
    declared: u64,
    values: Vec<Value>,
}

impl Scope {
    /// Begins a region that has so many values.
    fn enter(&mut self, declared: u64, cursor: &Cursor<'_>) -> Parsed<()> {
        let first = self.levels.last().map_or(Some(0), |level| level.first.checked_add(level.declared));
        let first = first.ok_or_else(|| cursor.broken("regions declare too many values"))?;
        self.levels.push(Level { first, declared, values: Vec::new() });
        Ok(())
    }

    /// The value with that number.
    fn value(&self, number: u64, cursor: &Cursor<'_>) -> Parsed<Value> {
        let level = self.levels.iter().rev().find(|level| level.first <= number);
        let value = level.and_then(|level| level.values.get(usize::try_from(number - level.first).ok()?));
        value
            .copied()
            .ok_or_else(|| cursor.broken(format!("value {number} is used, and it is not there yet")))
    }
}

impl<'m> File<'m> {
    /// Reads the module.
    pub(super) fn module(&mut self) -> Parsed<Module<'m>> {
        let mut cursor = self.section(OPERATIONS)?;
        let (count, has_arguments) = cursor.flagged()?;
        if count != 1 || has_arguments {
            return Err(cursor.broken(format!("one module is wanted, and there are {count} operations")));
        }
        let head = self.head(&mut cursor)?;
        if (head.name.dialect, head.name.name, head.regions) != ("builtin", "module", 1) {
            return Err(cursor.broken(format!("a module is wanted, and `{}` is there", head.name)));
        }
        let mut module = Module::default();
        for (name, index) in &head.attributes {
            if name == "sym_name" {
                module.name = self.text_attribute(*index, &cursor)?;
            }
        }
        let mut body = self.regions_of(&head, &mut cursor)?;
        let cursor = body.as_mut().unwrap_or(&mut cursor);
        let mut scope = Scope::default();
        let operations = self.region_head(cursor, &mut scope)?.map_or(0, |(count, _)| count);
        for _ in 0..operations {
            let head = self.head(cursor)?;
            match head.name.known {
                Some(known) if known.encoded == "func_v1" => {
                    self.allowance.charge(size_of::<Function<'_>>() * 2, cursor)?;
                    module.functions.push(self.function_of(head, cursor)?);
                }
                // What devices there are, and the like. It does not change what is computed.
                _ if head.name.dialect != VHLO && head.regions == 0 && head.results.is_empty() => {}
                _ => {
                    let what =
                        format!("operation `{}` stands where portable artifacts have functions", head.name);
                    return Err(cursor.broken(what).with_help(PORTABLE));
                }
            }
        }
        cursor.finish()?;
        Ok(module)
    }

    fn function_of(&mut self, head: Head<'m>, cursor: &mut Cursor<'m>) -> Parsed<Function<'m>> {
        let mut function = Function { public: true, ..Function::default() };
        let mut ty = None;
        for (name, index) in &head.attributes {
            match &**name {
                "sym_name" => function.name = self.text_attribute(*index, cursor)?,
                "sym_visibility" => function.public = self.text_attribute(*index, cursor)? != "private",
                "function_type" => ty = Some(self.function_type(*index, cursor)?),
                "arg_attrs" => function.argument_attributes = self.dictionaries(*index, cursor)?,
                "res_attrs" => function.result_attributes = self.dictionaries(*index, cursor)?,
                _ => {}
            }
        }
        let name = format!("func.func @{}", function.name);
        let (Some(ty), 1) = (ty, head.regions) else {
            return Err(cursor.broken("a function has a type and a body").in_operation(&name));
        };
        let mut scope = Scope::default();
        let mut body = self.regions_of(&head, cursor)?;
        let cursor = body.as_mut().unwrap_or(cursor);
        let read = self.region(cursor, &mut scope, FUNCTION_END, DEPTH);
        function.body = read.map_err(|broken| broken.in_operation(&name))?;
        body.map_or(Ok(()), |body| body.finish()).map_err(|broken| broken.in_operation(&name))?;
        let cursor = self.section(OPERATIONS)?;
        let wrong = |what| Err(cursor.broken(what).in_operation(&name));
        if let Some(end) = function.body.operations.last() {
            let of = |values: &[Value]| values.iter().map(|value| &scope.types[value.0]).collect::<Vec<_>>();
            if !of(&function.body.arguments).into_iter().eq(&ty.arguments) {
                return wrong("its body has other arguments than its type");
            }
            if !of(&end.operands).into_iter().eq(&ty.results) {
                return wrong("its body returns other types than its type says");
            }
        }
        for (attributes, count) in [
            (&mut function.argument_attributes, ty.arguments.len()),
            (&mut function.result_attributes, ty.results.len()),
        ] {
            if attributes.is_empty() {
                self.allowance.charge(count * size_of::<Attributes<'_>>(), &cursor)?;
                attributes.resize(count, Attributes::default());
            }
            if attributes.len() != count {
                return wrong("not each of its arguments or results has attributes");
            }
        }
        for (Attributes(list), location) in function.argument_attributes.iter_mut().zip(&scope.locations) {
            let name = match location {
                Some(location) => self.name_of(*location, &cursor)?,
                None => None,
            };
            let is_named = |(key, _): &(Cow<'_, str>, Attribute<'_>)| key == "name" || key == "jax.arg_info";
            if let Some(name) = name.filter(|_| !list.iter().any(is_named)) {
                self.allowance.charge(size_of::<(Cow<'_, str>, Attribute<'_>)>(), &cursor)?;
                list.push((Cow::Borrowed("name"), Attribute::Text(name)));
            }
        }
        function.results = ty.results;
        function.types = scope.types;
        Ok(function)
    }

    /// A list of dictionaries.
    fn dictionaries(&mut self, index: u64, cursor: &Cursor<'m>) -> Parsed<Vec<Attributes<'m>>> {
        let Attribute::List(list) = self.attribute_value(index, cursor)? else {
            return Err(cursor.broken("a list of dictionaries is wanted"));
        };
        let dictionary = |attribute| match attribute {
            Attribute::Parts(parts) => Ok(parts),
            _ => Err(cursor.broken("a dictionary is wanted")),
        };
        list.into_iter().map(dictionary).collect()
    }

    /// Reads what an operation has before its regions.
    fn head(&mut self, cursor: &mut Cursor<'m>) -> Parsed<Head<'m>> {
        let index = cursor.number()?;
        let name = self.operation_name(index, cursor)?;
        self.parts_of_head(name, cursor).map_err(|broken| broken.in_operation(&name.to_string()))
    }

    fn parts_of_head(&mut self, name: OperationName<'m>, cursor: &mut Cursor<'m>) -> Parsed<Head<'m>> {
        let mask = cursor.byte()?;
        let has = |bit| mask & bit != 0;
        let location = cursor.number()?;
        let mut attributes = Vec::new();
        if has(HAS_ATTRIBUTES) {
            let index = cursor.number()?;
            attributes = self.dictionary(index, cursor)?;
        }
        if has(HAS_PROPERTIES) {
            let index = cursor.number()?;
            let properties = self.properties(index, cursor)?;
            self.properties_of(name, properties, &mut attributes)?;
        }
        let mut results = Vec::new();
        if has(HAS_RESULTS) {
            let count = cursor.count(1)?;
            results = self.allowance.list(count, cursor)?;
            for _ in 0..count {
                let index = cursor.number()?;
                results.push(self.value_type(index, cursor)?);
            }
        }
        let mut operands = Vec::new();
        if has(HAS_OPERANDS) {
            let count = cursor.count(1)?;
            operands = self.allowance.list(count, cursor)?;
            for _ in 0..count {
                operands.push(cursor.number()?);
            }
        }
        if has(HAS_SUCCESSORS) {
            return Err(cursor.broken("it continues in another block").with_help(STRUCTURED));
        }
        if has(HAS_USE_ORDERS) && self.version >= 3 {
            skip_use_orders(cursor, results.len())?;
        }
        let (mut regions, mut is_isolated) = (0, false);
        if has(HAS_REGIONS) {
            let count;
            (count, is_isolated) = cursor.flagged()?;
            regions = cursor.fits(count, 1)?;
        }
        Ok(Head { name, location, attributes, results, operands, regions, is_isolated })
    }

    /// The attributes that belong to an operation, in the order in which its dialect has them.
    fn properties_of(
        &mut self,
        name: OperationName<'m>,
        mut list: Cursor<'m>,
        attributes: &mut Vec<(Cow<'m, str>, u64)>,
    ) -> Parsed<()> {
        if let Some(known) = name.known {
            self.allowance.charge(known.attributes.len() * size_of::<(Cow<'_, str>, u64)>(), &list)?;
            attributes.reserve_exact(known.attributes.len());
            for attribute in known.attributes {
                attributes.push((Cow::Borrowed(attribute), list.number()?));
            }
            list.finish()?;
        } else if (name.dialect, name.name) == ("builtin", "module") {
            let (index, is_there) = list.flagged()?;
            if is_there {
                attributes.push((Cow::Borrowed("sym_name"), index));
            }
        }
        Ok(())
    }

    /// The section with the regions of an operation, if they have one.
    fn regions_of(&mut self, head: &Head<'m>, cursor: &mut Cursor<'m>) -> Parsed<Option<Cursor<'m>>> {
        if !head.is_isolated || self.version < 2 || head.regions == 0 {
            return Ok(None);
        }
        let (id, section) = cursor.section(section_name)?;
        match usize::from(id) {
            OPERATIONS => Ok(Some(section)),
            _ => Err(section.broken("operations are wanted")),
        }
    }

    /// The begin of a region and of its block: how many operations it has, and its arguments. `None` for a region without blocks.
    fn region_head(
        &mut self,
        cursor: &mut Cursor<'m>,
        scope: &mut Scope,
    ) -> Parsed<Option<(usize, Vec<Value>)>> {
        match cursor.number()? {
            0 => return Ok(None),
            1 => {}
            blocks => {
                return Err(cursor.broken(format!("a region has {blocks} blocks")).with_help(STRUCTURED))
            }
        }
        let declared = cursor.number()?;
        scope.enter(declared, cursor)?;
        let (operations, has_arguments) = cursor.flagged()?;
        let mut arguments = Vec::new();
        if has_arguments {
            let count = cursor.count(1)?;
            for _ in 0..count {
                let (ty, location) = self.block_argument(cursor)?;
                self.allowance.charge(size_of::<Type>() + 4 * size_of::<Value>(), cursor)?;
                arguments.push(define(scope, ty, cursor)?);
                scope.locations.push(location);
            }
            if self.version >= 3 && cursor.byte()? != 0 {
                skip_use_orders(cursor, arguments.len())?;
            }
        }
        Ok(Some((cursor.fits(operations, 3)?, arguments)))
    }

    /// The type of an argument, and its location.
    fn block_argument(&mut self, cursor: &mut Cursor<'m>) -> Parsed<(Type, Option<u64>)> {
        let (ty, has_location) = match self.version {
            0..=3 => (cursor.number()?, true),
            _ => cursor.flagged()?,
        };
        let location = if has_location { Some(cursor.number()?) } else { None };
        Ok((self.value_type(ty, cursor)?, location))
    }

    /// Reads a region, which ends in an operation with the name `end`.
    fn region(
        &mut self,
        cursor: &mut Cursor<'m>,
        scope: &mut Scope,
        end: &'static str,
        depth: usize,
    ) -> Parsed<Region<'m>> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(cursor.broken(format!("more than {DEPTH} regions lie in one another")));
        };
        let Some((count, arguments)) = self.region_head(cursor, scope)? else {
            // Functions that are only declared.
            return match end {
                FUNCTION_END => Ok(Region::default()),
                _ => Err(cursor.broken("a region is empty")),
            };
        };
        let mut operations = self.allowance.list(count, cursor)?;
        for _ in 0..count {
            let head = self.head(cursor)?;
            operations.push(self.operation(head, cursor, scope, end, depth)?);
        }
        scope.levels.pop();
        match operations.last() {
            Some(Operation { name, .. }) if name == end => Ok(Region { arguments, operations }),
            _ => Err(cursor.broken("a region does not end in a return")),
        }
    }

    fn operation(
        &mut self,
        mut head: Head<'m>,
        cursor: &mut Cursor<'m>,
        scope: &mut Scope,
        end: &'static str,
        depth: usize,
    ) -> Parsed<Operation<'m>> {
        let encoded = head.name;
        let Some(known) = encoded.known else {
            let help = match encoded.dialect {
                VHLO => "export it for an older version of StableHLO",
                _ => PORTABLE,
            };
            return Err(cursor.broken(format!("operation `{encoded}` is not known")).with_help(help));
        };
        let name = match known.encoded {
            "return_v1" => end,
            "call_v1" => "func.call",
            _ => known.name,
        };
        let in_operation = |broken: super::cursor::Broken| broken.in_operation(name);
        let listed = head.attributes.len();
        let mut attributes = self.allowance.list(listed, cursor).map_err(in_operation)?;
        for (name, index) in std::mem::take(&mut head.attributes) {
            attributes.push((name, self.attribute_value(index, cursor).map_err(in_operation)?));
        }
        let attributes = upgrade::attributes(known.encoded, attributes, &mut self.allowance, cursor);
        let attributes = attributes.map_err(in_operation)?;
        self.allowance.release(listed * size_of::<(Cow<'_, str>, u64)>());
        let mut operands = self.allowance.list(head.operands.len(), cursor)?;
        self.allowance.release(head.operands.len() * size_of::<u64>());
        for &number in &head.operands {
            operands.push(scope.value(number, cursor).map_err(in_operation)?);
        }
        let mut results = self.allowance.list(head.results.len(), cursor)?;
        for ty in std::mem::take(&mut head.results) {
            results.push(define(scope, ty, cursor).map_err(in_operation)?);
        }
        let place = self.place(head.location, cursor)?;
        let mut regions = self.allowance.list(head.regions, cursor)?;
        let mut section = self.regions_of(&head, cursor).map_err(in_operation)?;
        let outer = if head.is_isolated { std::mem::take(&mut scope.levels) } else { Vec::new() };
        for _ in 0..head.regions {
            let cursor = section.as_mut().unwrap_or(cursor);
            let region = self.region(cursor, scope, REGION_END, depth);
            regions.push(region.map_err(in_operation)?);
        }
        if head.is_isolated {
            scope.levels = outer;
        }
        section.map_or(Ok(()), |section| section.finish()).map_err(in_operation)?;
        Ok(Operation { name: Cow::Borrowed(name), operands, results, attributes, regions, place })
    }
}

/// Gives the next value of the region its number in the function.
fn define(scope: &mut Scope, ty: Type, cursor: &Cursor<'_>) -> Parsed<Value> {
    let value = Value(scope.types.len());
    let Some(level) = scope.levels.last_mut().filter(|level| (level.values.len() as u64) < level.declared)
    else {
        return Err(cursor.broken("a region has more values than it declares"));
    };
    level.values.push(value);
    scope.types.push(ty);
    Ok(value)
}

/// Orders of uses do not change what is computed.
fn skip_use_orders(cursor: &mut Cursor<'_>, values: usize) -> Parsed<()> {
    let orders = if values > 1 { cursor.number()? } else { 1 };
    for _ in 0..cursor.fits(orders, 1)? {
        if values > 1 {
            cursor.number()?;
        }
        let (indices, _) = cursor.flagged()?;
        for _ in 0..cursor.fits(indices, 1)? {
            cursor.number()?;
        }
    }
    Ok(())
}

/// The way out where a file has operations of another dialect than VHLO.
const PORTABLE: &str =
    "write a portable artifact: `jax.export`, or `stablehlo.serialize_portable_artifact`; or text";

/// The way out where blocks jump to one another.
const STRUCTURED: &str = "lower control flow to `stablehlo.while`, `stablehlo.case` and `stablehlo.if`";
