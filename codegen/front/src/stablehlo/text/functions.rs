//! Modules and functions in MLIR's text.

use super::operations::Draft;
use super::Reader;
use crate::stablehlo::module::{Attribute, Attributes, Function, Module, Operation, Region, Type};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// The way out where a text has several modules.
const ONE_MODULE: &str = "save each module in a file of its own";

impl<'m> Reader<'m> {
    /// Reads the whole text: a module, or functions without one.
    pub(super) fn file(&mut self, bytes: &'m [u8]) -> Parsed<Module<'m>> {
        self.find_aliases(bytes)?;
        self.find_resources(bytes)?;
        let mut module = Module::default();
        let mut has_module = false;
        while !self.scan.ends() {
            let at = self.scan.at();
            match self.scan.peek() {
                b'#' | b'!' => self.skip_alias()?,
                b'{' => {
                    self.scan.balanced()?;
                }
                _ => {
                    let is_module = self.is_module();
                    if has_module {
                        return self.scan.unsupported(at, "the file has several modules", ONE_MODULE);
                    }
                    match is_module {
                        true => {
                            has_module = true;
                            self.module(&mut module)?;
                        }
                        false => self.member(&mut module)?,
                    }
                }
            }
        }
        match module.functions.is_empty() {
            true => self.scan.broken("the module has no function"),
            false => Ok(module),
        }
    }

    /// Aliases are often defined behind their uses.
    fn find_aliases(&mut self, bytes: &'m [u8]) -> Parsed<()> {
        let mut start = 0;
        for line in bytes.split(|&byte| byte == b'\n') {
            if let Some(kind @ (b'#' | b'!')) = line.first() {
                self.scan.jump(start + 1);
                let name = self.scan.word();
                if !name.is_empty() && self.scan.takes("=") {
                    self.scan.charge(64)?;
                    let at = self.scan.at();
                    let aliases = if *kind == b'#' { &mut self.aliases } else { &mut self.type_aliases };
                    aliases.insert(name, at);
                }
            }
            start += line.len() + 1;
        }
        self.scan.jump(0);
        Ok(())
    }

    fn skip_alias(&mut self) -> Parsed<()> {
        let is_type = self.scan.takes("!");
        if !is_type {
            self.scan.wants("#")?;
        }
        self.scan.word();
        self.scan.wants("=")?;
        match is_type {
            true => self.ty().map(|_| ()),
            false => self.attribute().map(|_| ()),
        }
    }

    /// Resources stand behind the module: `{-# dialect_resources: { builtin: { name: "0x…" } } #-}`.
    fn find_resources(&mut self, bytes: &'m [u8]) -> Parsed<()> {
        let is_start = |window: &[u8]| window == b"\n{-#";
        let Some(start) = bytes.windows(4).rposition(is_start) else { return Ok(()) };
        self.scan.jump(start + 4);
        let mut depth = 0usize;
        while !self.scan.ends() && !self.scan.takes("#-}") {
            if self.scan.takes("{") {
                depth += 1;
            } else if self.scan.takes("}") {
                depth = depth.saturating_sub(1);
            } else if !self.scan.takes(",") {
                let name = match self.scan.peek() {
                    b'"' => match self.scan.string()? {
                        Cow::Borrowed(name) => name,
                        Cow::Owned(_) => return self.scan.broken("a resource's name has escapes"),
                    },
                    _ => self.scan.word(),
                };
                self.scan.wants(":")?;
                if self.scan.peek() == b'"' {
                    let at = self.scan.at();
                    self.scan.string()?;
                    if depth == 2 {
                        self.scan.charge(64)?;
                        self.resources.insert(name, at);
                    }
                } else if self.scan.peek() != b'{' {
                    self.scan.number()?;
                }
            }
        }
        self.scan.jump(0);
        Ok(())
    }

    fn is_module(&mut self) -> bool {
        matches!(self.scan.peek_word(), "module" | "builtin.module") || self.scan.sees("\"builtin.module\"")
    }

    /// Reads a module.
    fn module(&mut self, module: &mut Module<'m>) -> Parsed<()> {
        if self.scan.takes("\"builtin.module\"") {
            return self.generic_module(module);
        }
        self.scan.word();
        if self.scan.sees("@") {
            module.name = self.symbol()?;
        }
        if self.scan.takes_word("attributes") {
            self.dictionary(&mut Attributes::default())?;
        }
        self.scan.wants("{")?;
        self.members(module)?;
        self.location()?;
        Ok(())
    }

    fn generic_module(&mut self, module: &mut Module<'m>) -> Parsed<()> {
        let mut attributes = Attributes::default();
        self.scan.wants("(")?;
        self.scan.wants(")")?;
        if self.scan.takes("<") {
            self.dictionary(&mut attributes)?;
            self.scan.wants(">")?;
        }
        self.scan.wants("(")?;
        self.scan.wants("{")?;
        if self.scan.takes("^") {
            self.scan.word();
            self.scan.wants(":")?;
        }
        self.members(module)?;
        self.scan.wants(")")?;
        self.dictionary(&mut attributes)?;
        self.scan.wants(":")?;
        self.signature()?;
        self.location()?;
        if let Some(Attribute::Text(name)) = attributes.get("sym_name") {
            module.name = name.clone();
        }
        Ok(())
    }

    fn members(&mut self, module: &mut Module<'m>) -> Parsed<()> {
        while !self.scan.takes("}") {
            self.scan.step()?;
            if self.is_module() {
                let at = self.scan.at();
                return self.scan.unsupported(at, "a module is inside of another", ONE_MODULE);
            }
            self.member(module)?;
        }
        Ok(())
    }

    /// Reads what is directly in a module.
    fn member(&mut self, module: &mut Module<'m>) -> Parsed<()> {
        self.types.clear();
        self.names.clear();
        self.defined.clear();
        if self.scan.sees("\"") {
            let function = self.generic_member()?;
            return self.push(module, function);
        }
        let at = self.scan.at();
        match self.scan.word() {
            "func.func" | "func" => {
                let function = self.function()?;
                self.push(module, Some(function))
            }
            // Meshes of devices.
            "sdy.mesh" | "mesh.mesh" => {
                self.symbol()?;
                self.scan.takes("=");
                if self.scan.sees("<") || self.scan.sees("(") {
                    self.scan.balanced()?;
                }
                self.location()?;
                Ok(())
            }
            word => {
                let what = match word {
                    "" => "a function is wanted here".to_owned(),
                    word => format!("{word} is no function"),
                };
                self.scan.broken_at(at, what)
            }
        }
    }

    fn push(&mut self, module: &mut Module<'m>, function: Option<Function<'m>>) -> Parsed<()> {
        let Some(function) = function else { return Ok(()) };
        self.scan.charge(64)?;
        if !self.functions.insert(function.name.clone()) {
            return self.scan.broken(format!("the function {} is defined twice", function.name));
        }
        self.scan.charge(size_of::<Function<'_>>())?;
        module.functions.push(function);
        Ok(())
    }

    /// A function behind its keyword.
    fn function(&mut self) -> Parsed<Function<'m>> {
        let mut function = Function { public: true, ..Function::default() };
        while !self.scan.sees("@") {
            match self.scan.word() {
                "private" | "nested" => function.public = false,
                "public" => {}
                _ => return self.scan.broken("the name of a function is wanted here"),
            }
        }
        function.name = self.symbol()?;
        self.scan.wants("(")?;
        let mut arguments = Vec::new();
        if !self.scan.takes(")") {
            loop {
                let name = match self.scan.sees("%") {
                    true => {
                        let name = self.value_name()?;
                        self.scan.wants(":")?;
                        Some(name)
                    }
                    false => None,
                };
                let ty = self.ty()?;
                arguments.push((name, ty));
                function.argument_attributes.push(self.attributes_of_a_type()?);
                if self.scan.takes(")") {
                    break;
                }
                self.scan.wants(",")?;
            }
        }
        if self.scan.takes("->") {
            match self.scan.takes("(") {
                false => {
                    function.results.push(self.ty()?);
                    function.result_attributes.push(Attributes::default());
                }
                true if self.scan.takes(")") => {}
                true => loop {
                    function.results.push(self.ty()?);
                    function.result_attributes.push(self.attributes_of_a_type()?);
                    if self.scan.takes(")") {
                        break;
                    }
                    self.scan.wants(",")?;
                },
            }
        }
        if self.scan.takes_word("attributes") {
            self.dictionary(&mut Attributes::default())?;
        }
        if self.scan.sees("{") {
            let at = self.scan.at();
            let mut named = Vec::new();
            for (name, ty) in arguments {
                let Some(name) = name else {
                    return self.scan.broken_at(at, "an argument of the function has no name");
                };
                named.push((name, ty));
            }
            function.body = self.region(named)?;
            self.check_body(&mut function.body, &function.results, at)?;
        } else {
            for (_, ty) in arguments {
                let argument = self.new_value(ty)?;
                function.body.arguments.push(argument);
            }
        }
        self.location()?;
        function.types = std::mem::take(&mut self.types);
        Ok(function)
    }

    /// What is said of an argument or result behind its type.
    fn attributes_of_a_type(&mut self) -> Parsed<Attributes<'m>> {
        let mut attributes = Attributes::default();
        self.dictionary(&mut attributes)?;
        self.location()?;
        self.scan.charge(size_of::<Attributes<'_>>())?;
        Ok(attributes)
    }

    /// A function in the generic form; `None` for something else.
    fn generic_member(&mut self) -> Parsed<Option<Function<'m>>> {
        self.scan.space();
        let at = self.scan.at();
        self.signature_of_function = None;
        let Operation { name, attributes, mut regions, .. } = self.operation()?;
        if name != "func.func" {
            return Ok(None);
        }
        let Some((arguments, results)) = self.signature_of_function.take() else {
            return self.scan.broken_at(at, "a function has no type");
        };
        let Some(Attribute::Text(name)) = attributes.get("sym_name") else {
            return self.scan.broken_at(at, "a function has no name");
        };
        let is_private =
            matches!(attributes.get("sym_visibility"), Some(Attribute::Text(text)) if text != "public");
        let mut body = regions.pop().unwrap_or_default();
        if body.operations.is_empty() {
            for ty in arguments {
                let argument = self.new_value(ty)?;
                body.arguments.push(argument);
            }
        } else {
            let types = body.arguments.iter().map(|value| self.types.get(value.0));
            if !types.eq(arguments.iter().map(Some)) {
                return self.scan.broken_at(at, "a function's arguments are not those of its type");
            }
            self.check_body(&mut body, &results, at)?;
        }
        let each = |key: &str, count: usize| {
            let mut list = vec![Attributes::default(); count];
            if let Some(Attribute::List(given)) = attributes.get(key) {
                for (place, given) in list.iter_mut().zip(given) {
                    if let Attribute::Parts(given) = given {
                        *place = given.clone();
                    }
                }
            }
            list
        };
        Ok(Some(Function {
            name: name.clone(),
            public: !is_private,
            argument_attributes: each("arg_attrs", body.arguments.len()),
            result_attributes: each("res_attrs", results.len()),
            results,
            types: std::mem::take(&mut self.types),
            body,
        }))
    }

    /// Whether a body returns what its function says.
    fn check_body(&self, body: &mut Region<'m>, results: &[Type], at: usize) -> Parsed<()> {
        let Some(last) = body.operations.last_mut().filter(|last| last.name.ends_with(".return")) else {
            return self.scan.broken_at(at, "a function does not end in return");
        };
        last.name = "func.return".into();
        let returned = last.operands.iter().map(|value| self.types.get(value.0));
        match returned.eq(results.iter().map(Some)) {
            true => Ok(()),
            false => self.scan.broken_at(at, "a function returns other types than it says"),
        }
    }
}

impl<'m> Draft<'m> {
    /// An operation that has been read as far as its name.
    pub(super) fn named(name: impl Into<Cow<'m, str>>) -> Self {
        Draft { name: name.into(), ..Draft::default() }
    }
}
