//! Kiln's compiler: a trained model in, plain `no_std` Rust out.
//!
//! [`compile`] is the whole way. The doors to it are `kiln::include_model!`, [`Build`] for build scripts, and
//! `cargo kiln compile`; the same options give the same Rust through each.

pub mod advice;
mod door;
pub mod emit;
mod error;
pub mod front;
pub mod interp;
pub mod ir;
pub mod kernel;
mod options;
pub mod passes;
pub mod plan;
pub mod quantize;
pub mod report;
pub mod requant;
pub mod schedule;
pub mod search;
pub mod select;
mod target;
pub mod verify;
pub mod write;

pub use door::{compile_file, include_model, model_name, read_file, write_whole, Build};
pub use error::{Error, Problem};
pub use options::{
    CustomOp, Events, Float, Input, InputShape, Io, Optimize, Options, Qdq, Reference, StatePair, Weights,
};
pub use target::Target;

use proc_macro2::TokenStream;

/// Compiles a model.
///
/// # Errors
/// [`Error`] says what is wrong and where; every problem of a stage is listed at once.
pub fn compile(bytes: &[u8], name: &str, options: &Options) -> Result<Compiled, Error> {
    options.check()?;
    compile_graph(import(bytes, name, options)?, options)
}

/// Compiles an imported graph.
///
/// # Errors
/// As [`compile`].
pub fn compile_graph(graph: ir::Graph, options: &Options) -> Result<Compiled, Error> {
    options.check()?;
    let again = options.ram.filter(|_| options.optimize != Optimize::Memory).map(|ram| (ram, graph.clone()));
    let mut compiled = lower(graph, options)?;
    // What makes more operations go row by row costs cycles: it is tried where nothing else fits.
    if let Some((_, graph)) = again.filter(|&(ram, _)| compiled.plan.ram_bytes() > ram) {
        let least = lower(graph, &Options { optimize: Optimize::Memory, ..options.clone() })?;
        if least.plan.ram_bytes() < compiled.plan.ram_bytes() {
            compiled = Compiled { options: options.clone(), ..least };
        }
    }
    report::budget::check(&compiled)?;
    Ok(compiled)
}

/// Compiles an imported graph, whatever it needs.
fn lower(mut graph: ir::Graph, options: &Options) -> Result<Compiled, Error> {
    let mut recorder = report::passes::Recorder::new(&graph);
    passes::run_observed(&mut graph, options, &mut |pass, graph| recorder.after(pass, graph))?;
    graph.order = schedule::order::order(&graph);
    verify::after_stage("order", &graph)?;
    let search::Found { schedule, plan, alternatives } = search::search(&graph, options)?;
    schedule::check(&graph, &schedule).map_err(|objection| objection.into_error("schedule"))?;
    plan::check(&graph, &schedule, &plan).map_err(|objection| objection.into_error("plan"))?;
    let program = select::select(&graph, &schedule, &plan, options)?;
    let log = recorder.finish();
    Ok(Compiled { graph, schedule, plan, program, alternatives, log, options: options.clone() })
}

/// Reads a model as the graph whose meaning compilation preserves.
///
/// # Errors
/// [`Error::Malformed`] and [`Error::Unsupported`].
pub fn import(bytes: &[u8], name: &str, options: &Options) -> Result<ir::Graph, Error> {
    let mut graph = front::read_with(bytes, name, options)?;
    verify::after_stage("front", &graph)?;
    if options.qdq == Qdq::Integers && passes::qdq::run(&mut graph) {
        verify::after_stage("pass qdq", &graph)?;
    }
    if options.io == Io::Quantized && passes::quantized_io::run(&mut graph) {
        verify::after_stage("pass quantized_io", &graph)?;
    }
    Ok(graph)
}

/// The graph whose interpretation generated code is held to: with [`Float::Reproducible`] what passes made of the imported one, since its floats have the same bits; otherwise the imported one
/// itself.
///
/// # Errors
/// [`Error::Internal`] naming the pass that broke an invariant.
pub fn reference(imported: &ir::Graph, options: &Options) -> Result<ir::Graph, Error> {
    let mut graph = imported.clone();
    if options.float == Float::Reproducible {
        // What options and targets ask for besides moves elements, and changes no order of sums.
        passes::run(&mut graph, &mut |_, _| {})?;
    }
    Ok(graph)
}

/// A compiled model with all that was decided about it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The graph after all passes.
    pub graph: ir::Graph,
    /// Steps and storage.
    pub schedule: schedule::Schedule,
    /// Arena offsets.
    pub plan: plan::Plan,
    /// Kernel calls.
    pub program: select::Program,
    /// The schedules that were tried.
    pub alternatives: Vec<search::Alternative>,
    /// What the passes did.
    pub log: report::passes::Log,
    /// What was asked for.
    pub options: Options,
}

impl Compiled {
    /// Name of the generated type.
    pub fn type_name(&self) -> String {
        emit::type_name(&self.graph, &self.options)
    }

    /// The generated Rust. `vis` is the visibility of the type.
    pub fn tokens(&self, vis: &TokenStream) -> TokenStream {
        self.tokens_with(vis, &[])
    }

    /// The generated Rust, with the paths of custom operators' functions as the user wrote them: errors point there.
    fn tokens_with(&self, vis: &TokenStream, paths: &[syn::ExprPath]) -> TokenStream {
        emit::emit(&self.graph, &self.program, &self.options, vis, paths)
    }

    /// The generated Rust as a formatted file.
    ///
    /// # Errors
    /// [`Error::Internal`] if the emitter wrote what is no Rust.
    pub fn file(&self, vis: &TokenStream) -> Result<String, Error> {
        let code = emit::pretty(self.tokens(vis)).map_err(|e| Error::internal("emit", e))?;
        let version = env!("CARGO_PKG_VERSION");
        // A file's name may hold a line break, which would end the comment.
        let name = self.graph.name.escape_debug();
        Ok(format!("// @generated by Kiln {version} from the model `{name}`.\n\n{code}"))
    }
}
