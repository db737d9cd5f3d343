//! Parsing.

use super::lexer::{Lexer, ParseError, Token};
use crate::{DType, Data, Graph, NodeId, Op, Quant, Real, Shape, Type, ValueId};
use std::collections::HashMap;

/// Most bytes a `splat` may stand for.
const SPLAT_BYTES: usize = 1 << 26;

impl Graph {
    /// Reads the textual form. What it reads is not yet [verified](crate::verify).
    pub fn parse(text: &str) -> Result<Graph, ParseError> {
        let mut lexer = Lexer::new(text);
        lexer.expect_word("graph")?;
        let mut reader = Reader::new(lexer.quoted()?);
        lexer.expect('{')?;
        while !lexer.accept('}')? {
            reader.line(&mut lexer)?;
        }
        match lexer.next()? {
            Token::End => reader.finish(),
            other => Err(lexer.error(format!("{other} after the graph"))),
        }
    }
}

/// A use of a value, resolved when all declarations are known.
struct Use<'a> {
    name: &'a str,
    line: ParseError,
}

/// A graph in the making.
struct Reader<'a> {
    graph: Graph,
    names: HashMap<&'a str, ValueId>,
    operands: Vec<(NodeId, Vec<Use<'a>>)>,
    next: Vec<(Use<'a>, Use<'a>)>,
    outputs: Vec<Use<'a>>,
}

impl<'a> Reader<'a> {
    fn new(name: String) -> Self {
        Reader {
            graph: Graph::new(name),
            names: HashMap::new(),
            operands: Vec::new(),
            next: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn line(&mut self, lexer: &mut Lexer<'a>) -> Result<(), ParseError> {
        let Token::Word(word) = lexer.peek()? else { return self.node(lexer) };
        lexer.next()?;
        match word {
            "input" => {
                let (name, model_name, ty) = declared(lexer)?;
                let id = self.graph.add_input(model_name, ty);
                self.declare(lexer, name, id)
            }
            "state" => {
                let (name, model_name, ty) = declared(lexer)?;
                lexer.expect('=')?;
                let init = data(lexer, &ty)?;
                let id = self.graph.add_state(model_name, ty, init);
                self.declare(lexer, name, id)
            }
            "const" => {
                let (name, model_name, ty) = declared(lexer)?;
                lexer.expect('=')?;
                let data = data(lexer, &ty)?;
                let id = self.graph.add_const(model_name, ty, data);
                self.declare(lexer, name, id)
            }
            "next" => {
                let state = used(lexer)?;
                lexer.expect('=')?;
                self.next.push((state, used(lexer)?));
                Ok(())
            }
            "return" => {
                self.outputs = Vec::new();
                while matches!(lexer.peek()?, Token::Value(_)) {
                    self.outputs.push(used(lexer)?);
                    if !lexer.accept(',')? {
                        break;
                    }
                }
                Ok(())
            }
            other => Err(lexer.error(format!("`{other}` begins no line"))),
        }
    }

    fn node(&mut self, lexer: &mut Lexer<'a>) -> Result<(), ParseError> {
        let (name, model_name, ty) = declared(lexer)?;
        lexer.expect('=')?;
        let op = lexer.any_word()?;
        lexer.expect('(')?;
        let mut operands = Vec::new();
        while !lexer.accept(')')? {
            if !operands.is_empty() {
                lexer.expect(',')?;
            }
            operands.push(used(lexer)?);
        }
        let op = Op::parse_attrs(op, lexer)?;
        let origin = if lexer.accept_word("from")? { lexer.quoted()? } else { String::new() };
        let node = self.graph.add_detached_node(op, &[], model_name, ty, origin);
        self.graph.order.push(node);
        self.operands.push((node, operands));
        let id = self.graph.node(node).result;
        self.declare(lexer, name, id)
    }

    fn declare(&mut self, lexer: &Lexer<'_>, name: &'a str, id: ValueId) -> Result<(), ParseError> {
        match self.names.insert(name, id) {
            None => Ok(()),
            Some(_) => Err(lexer.error(format!("%{name} is declared twice"))),
        }
    }

    fn resolve(&self, used: &Use<'_>) -> Result<ValueId, ParseError> {
        self.names.get(used.name).copied().ok_or_else(|| ParseError {
            message: format!("%{} is not declared", used.name),
            ..used.line.clone()
        })
    }

    fn finish(mut self) -> Result<Graph, ParseError> {
        for (node, operands) in &self.operands {
            let operands = operands.iter().map(|u| self.resolve(u)).collect::<Result<_, _>>()?;
            self.graph.node_mut(*node).operands = operands;
        }
        for (state, next) in &self.next {
            let (current, next) = (self.resolve(state)?, self.resolve(next)?);
            match self.graph.states.iter_mut().find(|s| s.current == current) {
                Some(state) => state.next = next,
                None => {
                    return Err(ParseError {
                        message: format!("%{} is no state", state.name),
                        ..state.line.clone()
                    })
                }
            }
        }
        self.graph.outputs = self.outputs.iter().map(|u| self.resolve(u)).collect::<Result<_, _>>()?;
        Ok(self.graph)
    }
}

fn used<'a>(lexer: &mut Lexer<'a>) -> Result<Use<'a>, ParseError> {
    let name = lexer.value()?;
    Ok(Use { name, line: lexer.error(String::new()) })
}

/// Takes `%name "model's name": type`.
fn declared<'a>(lexer: &mut Lexer<'a>) -> Result<(&'a str, String, Type), ParseError> {
    let name = lexer.value()?;
    let model_name = if matches!(lexer.peek()?, Token::Text(_)) { lexer.quoted()? } else { String::new() };
    lexer.expect(':')?;
    Ok((name, model_name, ty(lexer)?))
}

fn ty(lexer: &mut Lexer<'_>) -> Result<Type, ParseError> {
    let word = lexer.any_word()?;
    let dtype = DType::ALL.into_iter().find(|d| d.name() == word);
    let dtype = dtype.ok_or_else(|| lexer.error(format!("`{word}` is no element type")))?;
    let shape = Shape(lexer.list(Lexer::integer)?);
    let quant = if lexer.accept_word("q")? { Some(quant(lexer)?) } else { None };
    Ok(Type { dtype, shape, quant })
}

fn quant(lexer: &mut Lexer<'_>) -> Result<Quant, ParseError> {
    lexer.expect('(')?;
    let axis = if lexer.accept_word("axis")? {
        let axis = lexer.integer()?;
        lexer.expect(',')?;
        Some(axis)
    } else {
        None
    };
    let scales = if lexer.peek()? == Token::Punct('[') {
        lexer.list(|l| l.float().map(Real))?
    } else {
        vec![Real(lexer.float()?)]
    };
    lexer.expect(':')?;
    let zero_points = if lexer.peek()? == Token::Punct('[') {
        lexer.list(Lexer::integer)?
    } else {
        vec![lexer.integer()?; scales.len()]
    };
    lexer.expect(')')?;
    Ok(Quant { scales, zero_points, axis })
}

fn data(lexer: &mut Lexer<'_>, ty: &Type) -> Result<Data, ParseError> {
    if lexer.accept('…')? {
        return Err(lexer.error("elided data cannot be read".into()));
    }
    if lexer.accept_word("hex")? {
        let digits = lexer.quoted()?;
        return hex(&digits)
            .ok_or_else(|| lexer.error("a pair of hexadecimal digits per byte wanted".into()));
    }
    if lexer.accept_word("splat")? {
        let element = element(lexer, ty.dtype)?;
        let bytes = ty.shape.checked_numel().and_then(|n| n.checked_mul(element.len()));
        let Some(bytes) = bytes.filter(|&bytes| bytes <= SPLAT_BYTES) else {
            return Err(lexer.error(format!("a splat of more than {SPLAT_BYTES} bytes")));
        };
        return Ok(Data::new(element.iter().copied().cycle().take(bytes).collect::<Vec<u8>>()));
    }
    Ok(Data::new(lexer.list(|l| element(l, ty.dtype))?.concat()))
}

fn hex(digits: &str) -> Option<Data> {
    let nibbles: Option<Vec<u8>> = digits.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let nibbles = nibbles.filter(|n| n.len() % 2 == 0)?;
    Some(Data::new(nibbles.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect::<Vec<u8>>()))
}

/// Takes one element, as its bytes.
fn element(lexer: &mut Lexer<'_>, dtype: DType) -> Result<Vec<u8>, ParseError> {
    let Some((lo, hi)) = dtype.int_range() else { return Ok(lexer.float()?.to_le_bytes().to_vec()) };
    let value: i64 = lexer.integer()?;
    if value < lo || value > hi {
        return Err(lexer.error(format!("{value} is no {}", dtype.name())));
    }
    Ok(value.to_le_bytes()[..dtype.size()].to_vec())
}
