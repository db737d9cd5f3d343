//! A text as a list of computations.

use super::shapes::{shape, skip_to};
use super::{Computation, Instruction, Program};
use crate::stablehlo::scanner::{Parsed, Scanner};
use std::collections::HashMap;

/// What is charged for a name.
const NAME: usize = 64;

/// Reads a text.
pub(super) fn program<'m>(scan: &mut Scanner<'m>) -> Parsed<Program<'m>> {
    let mut program = Program::default();
    if !scan.takes_word("HloModule") {
        return scan.broken("\"HloModule\" is wanted here");
    }
    program.name = name(scan)?;
    // What is said of the module, up to the end of the line.
    scan.line_rest();
    let mut last = "";
    while !scan.ends() {
        scan.step()?;
        match scan.peek_word() {
            // Tables of places in files, a line for each.
            "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames" => {
                scan.word();
                while scan.peek().is_ascii_digit() {
                    scan.line_rest();
                }
                continue;
            }
            "HloModule" => {
                let at = scan.at();
                let help = "save each module in a file of its own";
                return scan.unsupported(at, "the file has several modules", help);
            }
            _ => {}
        }
        let is_entry = scan.takes_word("ENTRY");
        let at = scan.at();
        let name = name(scan)?;
        let computation = computation(scan)?;
        scan.charge(NAME + size_of::<Computation<'_>>())?;
        if program.computations.insert(name, computation).is_some() {
            return scan.broken_at(at, format!("the computation {name} is defined twice"));
        }
        if is_entry && !program.entry.is_empty() {
            return scan.broken_at(at, "the module has two entries");
        }
        if is_entry {
            program.entry = name;
        }
        last = name;
    }
    if program.entry.is_empty() {
        // Of computations without a mark, the last is the model.
        program.entry = last;
    }
    match last {
        "" => scan.broken("the module has no computation"),
        _ => Ok(program),
    }
}

/// Reads a name, with `%` in front or without.
pub(super) fn name<'m>(scan: &mut Scanner<'m>) -> Parsed<&'m str> {
    scan.takes("%");
    match scan.run(|byte| byte.is_ascii_alphanumeric() || b"_.-$".contains(&byte)) {
        "" => scan.broken("a name is wanted here"),
        name => Ok(name),
    }
}

/// A computation behind its name.
fn computation<'m>(scan: &mut Scanner<'m>) -> Parsed<Computation<'m>> {
    let start = scan.at();
    let mut computation = Computation::default();
    if scan.takes("(") {
        skip_to(scan, ")")?;
        scan.wants("->")?;
        shape(scan)?;
    }
    scan.wants("{")?;
    let mut root = None;
    let mut parameters = Vec::new();
    // The number of the instruction with each name.
    let mut names = HashMap::new();
    while !scan.takes("}") {
        let at = scan.at();
        let is_root = scan.takes_word("ROOT");
        let (instruction, parameter) = instruction(scan, &names)?;
        let number = computation.instructions.len();
        if is_root && root.replace(number).is_some() {
            return scan.broken_at(at, "the computation has two roots");
        }
        if let Some(parameter) = parameter {
            scan.charge(16)?;
            parameters.push((parameter, number));
        }
        scan.charge(NAME + size_of::<Instruction<'_>>())?;
        if names.insert(instruction.name, number).is_some() {
            return scan.broken_at(at, format!("{} is defined twice", instruction.name));
        }
        computation.instructions.push(instruction);
    }
    scan.release(NAME * names.len());
    // What is said of the computation.
    if scan.takes(",") {
        scan.line_rest();
    }
    parameters.sort_unstable();
    if parameters.iter().zip(0..).any(|((parameter, _), number)| *parameter != number) {
        return scan.broken_at(start, "the parameters of a computation are not numbered from 0");
    }
    computation.parameters = parameters.into_iter().map(|(_, number)| number).collect();
    let last = computation.instructions.len().checked_sub(1);
    match root.or(last) {
        Some(root) => computation.root = root,
        None => return scan.broken_at(start, "a computation has no instructions"),
    }
    Ok(computation)
}

/// Reads an instruction, and the number of the parameter that it is.
fn instruction<'m>(
    scan: &mut Scanner<'m>,
    names: &HashMap<&'m str, usize>,
) -> Parsed<(Instruction<'m>, Option<i64>)> {
    let name = name(scan)?;
    scan.wants("=")?;
    let ty = shape(scan)?;
    scan.space();
    let start = scan.at();
    let opcode = scan.run(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if opcode.is_empty() {
        return scan.broken_at(start, "the name of an operation is wanted here");
    }
    scan.wants("(")?;
    scan.space();
    let at = scan.at();
    let line = scan.line(start);
    let mut operands = Vec::new();
    let mut parameter = None;
    match opcode {
        "parameter" => {
            parameter = Some(scan.integer()?);
            scan.wants(")")?;
        }
        "constant" => skip_to(scan, ")")?,
        _ => scan.list(")", |scan| {
            let at = scan.at();
            operand_shape(scan)?;
            let operand = self::name(scan)?;
            scan.charge(size_of::<usize>())?;
            match names.get(operand) {
                Some(&number) => operands.push(number),
                None => return scan.broken_at(at, format!("{operand} is not defined here")),
            }
            Ok(())
        })?,
    }
    let mut attributes = Vec::new();
    while scan.takes(",") {
        scan.charge(size_of::<(&str, usize)>())?;
        let key = self::name(scan)?;
        scan.wants("=")?;
        scan.space();
        attributes.push((key, scan.at()));
        skip_value(scan)?;
    }
    Ok((Instruction { name, ty, opcode, operands, at, line, attributes }, parameter))
}

/// Reads the shape in front of an operand; not all versions write it.
fn operand_shape(scan: &mut Scanner<'_>) -> Parsed<()> {
    scan.space();
    let start = scan.at();
    let is_array = !scan.word().is_empty() && scan.joins("[");
    scan.jump(start);
    if is_array || scan.sees("(") {
        shape(scan)?;
    }
    Ok(())
}

/// Leaves out the value of an attribute.
fn skip_value(scan: &mut Scanner<'_>) -> Parsed<()> {
    loop {
        scan.step()?;
        if scan.joins("{") {
            skip_to(scan, "}")?;
        } else if scan.joins("[") {
            skip_to(scan, "]")?;
        } else if scan.joins("(") {
            skip_to(scan, ")")?;
        } else if scan.next_is(b'"') {
            scan.string()?;
        } else if scan.run(|byte| !byte.is_ascii_whitespace() && !b",{}[]()\"".contains(&byte)).is_empty() {
            // Literals have spaces in them.
            scan.run(|byte| byte == b' ');
            if !scan.next_is(b'{') && !scan.next_is(b'(') {
                return Ok(());
            }
        }
    }
}
