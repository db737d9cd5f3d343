//! The other side: `differential/oracle.py`, which draws graphs and runs them with the runtimes that Kiln is held to.

use super::{Bytes, Format};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A graph, or a part of one, with what the runtimes make of it.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its number; the graph is that of this number and the seed.
    pub number: usize,
    /// What was drawn, in words.
    pub title: String,
    /// The operator with the types of its operands, or `chain` with all operators.
    pub signature: String,
    /// The model's file.
    pub file: Vec<u8>,
    /// `inputs[case][k]`.
    pub inputs: Vec<Vec<Vec<u8>>>,
    /// Element type and dimensions of each output.
    pub outputs: Vec<(String, Vec<usize>)>,
    /// Every runtime's name, with its outputs (`[case][k]`) or why it refuses.
    pub runs: Vec<(String, Result<Bytes, String>)>,
}

/// What the oracle says of a number.
#[derive(Clone, Debug)]
pub enum Said {
    /// A graph.
    Graph(Box<Drawn>),
    /// There is none, and why.
    None(usize, String),
}

/// How graphs are asked for.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// Python, with the runtimes' packages.
    pub python: PathBuf,
    /// The format of the graphs.
    pub format: Format,
    /// What everything follows from.
    pub seed: u64,
    /// Operators that are drawn; all where empty.
    pub only: String,
}

impl Oracle {
    /// The graphs of these numbers: `first`, and every `step`th behind it, below `end`.
    ///
    /// # Errors
    /// Where Python does not start.
    pub fn graphs(&self, first: usize, end: usize, step: usize) -> Result<Answers, String> {
        let count = end.saturating_sub(first);
        self.ask(&["--first", &first.to_string(), "--count", &count.to_string(), "--step", &step.to_string()])
    }

    /// The operators of a graph, each alone.
    ///
    /// # Errors
    /// As [`Oracle::graphs`], and where the oracle ends before its time.
    pub fn parts(&self, number: usize) -> Result<Vec<Drawn>, String> {
        let answers = self.ask(&["--split", &number.to_string()])?;
        let graphs = answers.filter_map(|said| match said {
            Ok(Said::Graph(drawn)) => Some(Ok(*drawn)),
            Ok(Said::None(..)) => None,
            Err(why) => Some(Err(why)),
        });
        graphs.collect()
    }

    /// What is drawn: names of operators, each perhaps with a number format behind it.
    ///
    /// # Errors
    /// Where Python does not start, or says nothing.
    pub fn rows(&self) -> Result<Vec<String>, String> {
        let output = self.command(&["--list"]).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("{} does not start: {error}", self.python.display()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
            false => Err(format!("oracle.py --list ends with {}", output.status)),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("differential/oracle.py");
        let mut command = Command::new(&self.python);
        command.arg(script).args(["--format", self.format.name(), "--seed", &self.seed.to_string()]);
        if !self.only.is_empty() {
            command.args(["--only", &self.only]);
        }
        // Sets of strings have an order of their own in every process otherwise.
        command.args(arguments).env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn ask(&self, arguments: &[&str]) -> Result<Answers, String> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", self.python.display()))?;
        let output = child.stdout.take().ok_or("the oracle has no output")?;
        Ok(Answers { child, output: BufReader::with_capacity(1 << 20, output), ended: false })
    }
}

/// Graphs as they come.
#[derive(Debug)]
pub struct Answers {
    child: Child,
    output: BufReader<ChildStdout>,
    ended: bool,
}

impl Iterator for Answers {
    type Item = Result<Said, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let said = self.read();
        self.ended = !matches!(said, Ok(Some(_)));
        said.transpose()
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // It has ended, or nobody reads what else it says.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answers {
    fn read(&mut self) -> Result<Option<Said>, String> {
        let damaged = || "the oracle says what is no message".to_owned();
        let mut begun: Option<Drawn> = None;
        loop {
            let body = self.message()?;
            let (kind, rest) = body.split_first().ok_or_else(damaged)?;
            let mut fields = Fields(rest);
            match kind {
                b'G' => begun = Some(fields.graph().ok_or_else(damaged)?),
                b'R' => {
                    let run = fields.run().ok_or_else(damaged)?;
                    begun.as_mut().ok_or_else(damaged)?.runs.push(run);
                }
                b'D' => return Ok(Some(Said::Graph(Box::new(begun.ok_or_else(damaged)?)))),
                b'X' => {
                    let (number, why) = fields.none().ok_or_else(damaged)?;
                    return Ok(Some(Said::None(number, why)));
                }
                b'E' => return Ok(None),
                _ => return Err(damaged()),
            }
        }
    }

    fn message(&mut self) -> Result<Vec<u8>, String> {
        let mut length = [0; 4];
        let mut body = Vec::new();
        let read = self.output.read_exact(&mut length).and_then(|()| {
            body.resize(u32::from_le_bytes(length) as usize, 0);
            self.output.read_exact(&mut body)
        });
        read.map_err(|error| format!("the oracle ended before its time: {error}"))?;
        Ok(body)
    }
}

/// What is left of a message.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number) as usize)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes.to_vec())
    }

    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| one(self)).collect()
    }

    fn cases(&mut self) -> Option<Vec<Vec<Vec<u8>>>> {
        self.many(|fields| fields.many(Self::bytes))
    }

    fn graph(&mut self) -> Option<Drawn> {
        Some(Drawn {
            number: self.number()?,
            title: self.text()?,
            signature: self.text()?,
            file: self.bytes()?,
            inputs: self.cases()?,
            outputs: self.many(|fields| Some((fields.text()?, fields.many(Self::number)?)))?,
            runs: Vec::new(),
        })
    }

    fn run(&mut self) -> Option<(String, Result<Bytes, String>)> {
        let name = self.text()?;
        let (has_outputs, rest) = self.0.split_first()?;
        self.0 = rest;
        let outcome = if *has_outputs == 1 { Ok(self.cases()?) } else { Err(self.text()?) };
        Some((name, outcome))
    }

    fn none(&mut self) -> Option<(usize, String)> {
        Some((self.number()?, self.text()?))
    }
}
