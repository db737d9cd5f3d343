//! A program that takes part: it reads commands from its standard input, a line each, and answers with a
//! line.
use crate::step::Failure;
use kiln_boards::toolchain::find_program;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A program that takes part, running.
pub(super) struct Contestant {
    name: String,
    child: Child,
    /// `None` once it is told to end.
    commands: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Contestant {
    /// Starts it.
    ///
    /// # Errors
    /// Where it does not start.
    pub(super) fn start(name: &str, mut command: Command) -> Result<Contestant, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut child = started.map_err(|error| format!("{name} does not start: {error} ({command:?})"))?;
        let (commands, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or_else(|| format!("{name} has no output"))?;
        Ok(Contestant { name: name.into(), child, commands, answers: BufReader::new(answers).lines() })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Tells it something, and returns the words of its answer behind the first, which is to be `expected`.
    ///
    /// # Errors
    /// What it says that went wrong, or that it is gone.
    pub(super) fn ask(&mut self, words: &[&str], expected: &str) -> Result<Vec<String>, Failure> {
        let line = words.join("\t") + "\n";
        let commands = self.commands.as_mut().ok_or("it has ended")?;
        commands.write_all(line.as_bytes()).map_err(|error| format!("{} is gone: {error}", self.name))?;
        let answer =
            self.answers.next().ok_or_else(|| format!("{} ended without an answer", self.name))??;
        understand(&answer, expected).map_err(Failure::from)
    }

    /// One batch of inferences of at least that many milliseconds: the least time and the median, in
    /// nanoseconds.
    ///
    /// # Errors
    /// As [`ask`](Contestant::ask).
    pub(super) fn batch(&mut self, model: &str, milliseconds: u64) -> Result<Batch, Failure> {
        self.times(&["run", model, &milliseconds.to_string()])
    }

    /// A batch of calls of a model that computes nothing.
    ///
    /// # Errors
    /// As [`ask`](Contestant::ask).
    pub(super) fn empty_calls(&mut self, milliseconds: u64) -> Result<Batch, Failure> {
        self.times(&["call", &milliseconds.to_string()])
    }

    fn times(&mut self, words: &[&str]) -> Result<Batch, Failure> {
        let answer = self.ask(words, "times")?;
        match answer.iter().map(|word| word.parse()).collect::<Result<Vec<f64>, _>>()?[..] {
            [least, median, _count] => Ok(Batch { least, median }),
            _ => Err(format!("{} answered {answer:?}", self.name).into()),
        }
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        // Its input ends, and it with it.
        self.commands = None;
        let _ = self.child.wait();
    }
}

/// What a batch of inferences took, in nanoseconds each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Batch {
    pub(super) least: f64,
    pub(super) median: f64,
}

/// The words of an answer behind the first.
fn understand(answer: &str, expected: &str) -> Result<Vec<String>, String> {
    let mut words = answer.split('\t').map(str::to_owned);
    match words.next() {
        Some(first) if first == expected => Ok(words.collect()),
        Some(first) if first == "error" => Err(words.collect::<Vec<_>>().join(" ")),
        _ => Err(format!("unexpected answer: {answer}")),
    }
}

/// A program that runs on one core alone, where the system has `taskset`.
pub(super) fn pinned(core: usize, program: &Path) -> Command {
    match find_program("taskset") {
        Some(taskset) => {
            let mut command = Command::new(taskset);
            command.arg("-c").arg(core.to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_begin_with_what_was_asked_for() {
        assert_eq!(understand("times\t10\t12", "times"), Ok(vec!["10".into(), "12".into()]));
        assert_eq!(understand("loaded", "loaded"), Ok(vec![]));
        assert_eq!(understand("error\tno such\tmodel", "times"), Err("no such model".into()));
        assert!(understand("hello", "times").unwrap_err().contains("hello"));
    }

    #[test]
    fn programs_answer_line_by_line() {
        let mut echo = Contestant::start("cat", Command::new("cat")).unwrap();
        assert_eq!(echo.ask(&["times", "5"], "times").unwrap(), ["5"]);
        assert!(echo.batch("kws", 3).unwrap_err().to_string().contains("run"));
        let mut ends = Contestant::start("true", Command::new("true")).unwrap();
        ends.child.wait().unwrap();
        assert!(ends.ask(&["run"], "times").is_err());
    }
}
