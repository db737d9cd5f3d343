//! The whole run: drawing, judging and building side by side.

use super::code::{Waiting, Workshop};
use super::compare::difference;
use super::explained::Rule;
use super::judge::{Evaluated, Failure, Judge, Judged, Kind};
use super::keep::keep;
use super::oracle::{Drawn, Oracle, Said};
use super::report::Report;
use super::Format;
use kiln_codegen::ir::Data;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Python, with the runtimes' packages.
    pub python: PathBuf,
    /// Number of the first graph, and the one behind the last.
    pub numbers: std::ops::Range<usize>,
    /// What everything follows from.
    pub seed: u64,
    /// Operators that are drawn; all where empty.
    pub only: String,
    /// When no more graphs are begun.
    pub until: Option<Instant>,
    /// Where failing graphs are written.
    pub keep: PathBuf,
    /// Graphs in one program of generated code; none is built where it is 0.
    pub batch: usize,
    /// How many work side by side.
    pub jobs: usize,
}

/// Runs all graphs of a format.
///
/// # Errors
/// Where the oracle or the compiler does not run.
pub fn run(request: &Request, format: Format, rules: &[Rule]) -> Result<Report, String> {
    let jobs = request.jobs.max(1);
    let all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|k| scope.spawn(move || Worker::new(request, format, rules, k)?.run(k, jobs)))
            .collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<Report, String>>| {
            worker.join().unwrap_or_else(|payload| Err(super::kiln::said(&*payload)))
        };
        workers.into_iter().map(join).collect::<Vec<_>>()
    });
    let mut report = Report::default();
    for part in all {
        report.merge(part?);
    }
    Ok(report)
}

/// A graph whose generated code is not yet built.
struct Pending {
    drawn: Drawn,
    waiting: Waiting,
    expected: Vec<Vec<Data>>,
}

struct Worker<'a> {
    request: &'a Request,
    oracle: Oracle,
    rules: &'a [Rule],
    shop: Workshop,
    report: Report,
    pending: Vec<Pending>,
}

impl<'a> Worker<'a> {
    fn new(request: &'a Request, format: Format, rules: &'a [Rule], k: usize) -> Result<Worker<'a>, String> {
        let Request { python, seed, only, .. } = request.clone();
        let oracle = Oracle { python, format, seed, only };
        let shop = Workshop::open(&format!("worker{k}"))?;
        Ok(Worker { request, oracle, rules, shop, report: Report::default(), pending: Vec::new() })
    }

    fn run(mut self, k: usize, jobs: usize) -> Result<Report, String> {
        let numbers = &self.request.numbers;
        for said in self.oracle.graphs(numbers.start + k, numbers.end, jobs)? {
            match said? {
                Said::Graph(drawn) => self.graph(*drawn)?,
                Said::None(_, why) => *self.report.none.entry(why).or_default() += 1,
            }
            if self.request.until.is_some_and(|until| Instant::now() > until) {
                break;
            }
        }
        self.build()?;
        Ok(self.report)
    }

    fn graph(&mut self, drawn: Drawn) -> Result<(), String> {
        let judge = Judge { oracle: &self.oracle, rules: self.rules };
        let Judged { verdict, evaluated, parts } = judge.judge(&drawn);
        self.report.drew(&drawn.signature);
        self.report.count(drawn.number, &drawn.title, &verdict);
        if let Some(rule) = judge.passed(&drawn, &verdict) {
            *self.report.passed.entry(rule).or_default() += 1;
        }
        if let super::judge::Verdict::Failed(failure) = &verdict {
            self.keep(&drawn, &format!("{}: {}", failure.place, failure.what), &parts)?;
        }
        if let (Some(Evaluated { ready, cases, outputs: expected }), true) =
            (evaluated, self.request.batch > 0)
        {
            let waiting = Waiting { graph: Arc::new(ready.graph), code: ready.code, cases };
            self.pending.push(Pending { drawn, waiting, expected });
            if self.pending.len() >= self.request.batch {
                self.build()?;
            }
        }
        Ok(())
    }

    /// Builds and runs what waits.
    fn build(&mut self) -> Result<(), String> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let waiting: Vec<Waiting> = pending.iter().map(|pending| pending.waiting.clone()).collect();
        let results = self.shop.run(&waiting)?;
        for (Pending { drawn, waiting, expected }, result) in pending.into_iter().zip(results) {
            self.report.generated += 1;
            let what = match &result {
                Ok(actual) => difference(&waiting.graph, &waiting.cases, actual, &expected)
                    .map(|found| format!("differs from the interpreter: {found}")),
                Err(why) => Some(why.clone()),
            };
            if let Some(what) = what {
                let place = drawn.signature.clone();
                self.keep(&drawn, &format!("{place}: {what}"), &[])?;
                self.report.fail(drawn.number, &drawn.title, Failure { kind: Kind::Generated, place, what });
            }
        }
        Ok(())
    }

    fn keep(&self, drawn: &Drawn, what: &str, parts: &[Drawn]) -> Result<(), String> {
        let format = self.oracle.format;
        let name = format!("{}-{}", self.request.seed, drawn.number);
        let folder = self.request.keep.join(format.name());
        keep(&folder, &name, format, drawn, what)?;
        for (k, part) in parts.iter().enumerate() {
            keep(&folder, &format!("{name}-part{k}"), format, part, what)?;
        }
        Ok(())
    }
}
