//! Kiln's compiler: a trained model in, plain `no_std` Rust out.
//!
//! [`compile`] is the whole way. The doors to it are `kiln::include_model!`, [`Build`] for build scripts, and
//! `cargo kiln compile`; the same options give the same Rust through each.

pub mod budget;
mod door;
pub mod emit;
pub mod features;
pub mod log;
pub mod passes;
pub mod plan;
pub mod requant;
pub mod schedule;
pub mod search;
pub mod select;
mod waves;

pub use door::{
    build_features, compile_file, features, include_model, model_name, read_file, read_schedule,
    write_all_whole, write_whole, Build,
};
pub use emit::type_name_of;
pub use kiln_front as front;
pub use kiln_interp as interp;
pub use kiln_ir as ir;
pub use kiln_ir::error::{Error, Problem};
pub use kiln_ir::options::{
    CustomOp, Events, Float, Input, InputShape, Io, Optimize, Options, Qdq, Reference, ScheduleFile,
    StatePair, Weights,
};
pub use kiln_ir::spelling::Door;
pub use kiln_ir::verify;
pub use kiln_ir::Target;

use proc_macro2::TokenStream;
use search::written;
use std::ops::Range;

/// Compiles a model.
///
/// # Errors
/// [`Error`] says what is wrong and where; every problem is listed at once, also those of later stages in what an earlier one did not refuse.
pub fn compile(bytes: &[u8], name: &str, options: &Options) -> Result<Compiled, Error> {
    check(options)?;
    compile_graph(import(bytes, name, options)?, options)
}

/// Compiles an imported graph.
///
/// # Errors
/// As [`compile`].
pub fn compile_graph(graph: ir::Graph, options: &Options) -> Result<Compiled, Error> {
    check(options)?;
    if let Some(section) = written::section(options)? {
        return compile_written(graph, options, &section);
    }
    let by_rows = (options.input != Input::Whole).then(|| graph.clone());
    let again = options.ram.filter(|_| options.optimize != Optimize::Memory).map(|ram| (ram, graph.clone()));
    let packs = options.flash.filter(|_| options.weights.is_none()).map(|flash| (flash, graph.clone()));
    let lowered = match (lower(graph, options), by_rows) {
        // What has no kernel has none for whole inputs either.
        (Err(Error::Options(problem)), Some(graph)) => {
            return Err(match refused_later(graph, options) {
                more if more.is_empty() => Error::Options(problem),
                more => Error::Unsupported([vec![problem], more].concat()),
            });
        }
        (lowered, _) => lowered?,
    };
    let (mut compiled, mut problems) = lowered;
    // Kernels that unpack weights are slower.
    let packed = Options { weights: Some(Weights::Packed), ..options.clone() };
    let mut options = options;
    if let Some((_, graph)) = packs.filter(|&(flash, _)| compiled.program.constant_bytes() > flash) {
        if budget::packed::more(&compiled) > 0 {
            options = &packed;
            (compiled, problems) = lower(graph, options)?;
        }
    }
    // What makes more operations go row by row costs cycles: it is tried where nothing else fits.
    if let Some((_, graph)) = again.filter(|&(ram, _)| compiled.plan.ram_bytes() > ram) {
        let (least, _) = lower_as(graph, options, Optimize::Memory, None)?;
        if least.plan.ram_bytes() < compiled.plan.ram_bytes() {
            compiled = least;
        }
    }
    within_budgets(compiled, problems)
}

/// Compiles an imported graph by a written schedule.
fn compile_written(
    graph: ir::Graph,
    options: &Options,
    section: &written::Section,
) -> Result<Compiled, Error> {
    let (compiled, problems) = lower_as(graph, options, section.passes, Some(section))?;
    within_budgets(compiled, problems)
}

/// What was compiled, if there is a kernel for each step, and it is within its budgets.
fn within_budgets(compiled: Compiled, mut problems: Vec<Problem>) -> Result<Compiled, Error> {
    if problems.is_empty() {
        budget::check(&compiled)?;
        return Ok(compiled);
    }
    problems.extend(budget::problems(&compiled));
    Err(Error::Unsupported(problems))
}

/// Refuses options that do not go together, and functions of custom operators that are no paths.
fn check(options: &Options) -> Result<(), Error> {
    options.check()?;
    let is_path = |custom: &&CustomOp| {
        let path = syn::parse_str::<syn::ExprPath>(&custom.path);
        path.is_ok_and(|path| path.attrs.is_empty() && path.qself.is_none())
    };
    match options.custom_ops.iter().find(|custom| !is_path(custom)) {
        None => Ok(()),
        Some(CustomOp { name, path }) => Err(Error::Options(Problem {
            place: format!("option `custom_op({name:?}, …)`"),
            what: format!("`{path}` is no path of a function"),
            help: "write it as the module that includes the model would: crate::kernels::my_op".into(),
        })),
    }
}

/// Compiles an imported graph, whatever it needs. Steps without a kernel are listed beside it, and missing from the program.
fn lower(graph: ir::Graph, options: &Options) -> Result<(Compiled, Vec<Problem>), Error> {
    lower_as(graph, options, options.optimize, None)
}

/// As [`lower`], but with passes and kernels for something else that is favoured, and by a written schedule if there is one.
fn lower_as(
    mut graph: ir::Graph,
    asked: &Options,
    passes: Optimize,
    section: Option<&written::Section>,
) -> Result<(Compiled, Vec<Problem>), Error> {
    let options = &Options { optimize: passes, ..asked.clone() };
    schedule::check_rows(&graph)?;
    let declared: Vec<_> = graph.inputs.iter().map(|&id| graph.ty(id).quant.clone()).collect();
    let mut recorder = log::Recorder::new(&graph);
    passes::run_observed(&mut graph, options, &mut |pass, graph| recorder.after(pass, graph))?;
    // The recorder holds a second graph, which the stages below need not pay for.
    let log = recorder.finish();
    graph.order = schedule::order::order(&graph);
    let mut groups = search::groups::Groups::new();
    let mut not_divided = Vec::new();
    if let Some(section) = section {
        (groups, not_divided) = section.groups(&graph);
        if !groups.is_empty() {
            graph = search::groups::divided(&graph, &groups)?;
        }
    }
    let written = section.map(|section| section.fit(&graph)).transpose()?;
    written.iter().for_each(|written| graph.order.clone_from(&written.order));
    verify::after_stage("order", &graph)?;
    let found = match &written {
        Some(written) => search::follow(&graph, options, written)?,
        None => search::groups::search_groups(&mut graph, options, &mut groups)?,
    };
    let search::Found { schedule, kernels, plan, alternatives, mut unused } = found;
    unused.extend(not_divided);
    let groups = groups.iter().map(|(&id, &count)| (graph.node(id).result, count)).collect();
    schedule::check(&graph, &schedule).map_err(|objection| objection.into_error("schedule"))?;
    plan::check(&graph, &schedule, &plan).map_err(|objection| objection.into_error("plan"))?;
    let (mut program, problems) = select::select_all(&graph, &schedule, &plan, options, kernels)?;
    // Passes may see the elements of an input as other numbers. For callers they stay what the model says.
    for (port, quant) in program.inputs.iter_mut().zip(declared) {
        port.ty.quant = quant;
    }
    program.camera = select::camera(&program, options)?;
    let options = asked.clone();
    let compiled =
        Compiled { graph, schedule, plan, program, alternatives, groups, unused, passes, log, options };
    Ok((compiled, problems))
}

/// The steps of a graph that have no kernel, whatever else stands in its way.
fn refused_later(graph: ir::Graph, options: &Options) -> Vec<Problem> {
    let input = Input::Whole;
    let options = Options {
        ram: None,
        cycles: None,
        flash: None,
        fast_ram: None,
        schedule: None,
        input,
        ..options.clone()
    };
    lower(graph, &options).map_or(Vec::new(), |(_, problems)| problems)
}

/// Reads a model as the graph whose meaning compilation preserves.
///
/// # Errors
/// [`Error::Malformed`] and [`Error::Unsupported`]. Where operators are refused, kernels are looked for for the others all the same, and what has none is listed too.
pub fn import(bytes: &[u8], name: &str, options: &Options) -> Result<ir::Graph, Error> {
    let (graph, drift) = import_with_drift(bytes, name, options)?;
    drift.map_or(Ok(()), |drift| drift.check(options.qdq_drift()))?;
    Ok(graph)
}

/// As [`import`], and by how much integer layers drift from the floats of a file in QDQ format, whatever the limit is; `None` where no layers became integers.
///
/// # Errors
/// As [`import`].
pub fn import_with_drift(
    bytes: &[u8],
    name: &str,
    options: &Options,
) -> Result<(ir::Graph, Option<passes::qdq::drift::Drift>), Error> {
    let front::Read { graph, mut problems } = front::read_all(bytes, name, options)?;
    if problems.is_empty() {
        return rewritten(graph, options);
    }
    if let Ok((graph, _)) = rewritten(graph, options) {
        problems.extend(refused_later(graph, options));
    }
    Err(Error::Unsupported(problems))
}

/// The graph with what the options say about its arithmetic and interface, and the drift of integer layers.
fn rewritten(
    mut graph: ir::Graph,
    options: &Options,
) -> Result<(ir::Graph, Option<passes::qdq::drift::Drift>), Error> {
    front::check_elements(&graph)?;
    verify::after_stage("front", &graph)?;
    let drift = match options.qdq {
        Qdq::Integers => passes::qdq::drift::run(&mut graph),
        Qdq::Float => None,
    };
    if drift.is_some() {
        verify::after_stage("pass qdq", &graph)?;
    }
    if options.io == Io::Quantized && passes::quantized_io::run(&mut graph) {
        verify::after_stage("pass quantized_io", &graph)?;
    }
    if let Some(features) = &options.features {
        features::Features::of_text(features)?.in_front_of(&mut graph)?;
        verify::after_stage("features", &graph)?;
    }
    Ok((graph, drift))
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
    /// Convolutions that were divided into groups of channels, by their results, and into how many.
    pub groups: Vec<(ir::ValueId, usize)>,
    /// What a written schedule says and the model does not fit: it is not used.
    pub unused: Vec<String>,
    /// What the passes rewrote the graph for: what the options favour, or less memory where a budget asked for it.
    pub passes: Optimize,
    /// What the passes did.
    pub log: log::Log,
    /// What was asked for.
    pub options: Options,
}

impl Compiled {
    /// Name of the generated type.
    pub fn type_name(&self) -> String {
        emit::type_name(&self.graph, &self.options)
    }

    /// What is known of the schedule that was kept.
    pub fn kept(&self) -> Option<&search::Alternative> {
        self.alternatives.iter().find(|tried| tried.kept)
    }

    /// The schedule as a file that the option `schedule` takes: with the same options, the same Rust comes of it.
    pub fn written(&self) -> String {
        self.written_as(self.kept().map_or(&[], |kept| &kept.nodes), |_| None)
    }

    /// The same with other pipelines (positions of nodes, in the order of the graph), and other kernels where `kernel` names one.
    pub fn written_as<'k>(
        &'k self,
        pipelines: &[Range<usize>],
        kernel: impl Fn(ir::NodeId) -> Option<&'k str>,
    ) -> String {
        let chosen = |id: ir::NodeId| {
            let computes = |step: &schedule::Step| step.kind == schedule::StepKind::Compute(id);
            let chosen = self.program.chosen(self.schedule.steps.iter().position(computes)?)?;
            match kernel(id) {
                Some(name) => Some((name, None)),
                None => Some((&*chosen.name, chosen.cycles)),
            }
        };
        let same = |tried: &&search::Alternative| tried.nodes == pipelines;
        let again = self.kept().filter(same).or_else(|| self.alternatives.iter().find(same));
        let again = again.map_or(&[][..], |tried| &tried.again);
        let key = written::Key::of(&self.options);
        written::text(key, self.passes, (&self.graph, &self.groups), (pipelines, again), chosen)
    }

    /// The kernels that compute a node exactly, the cheapest first, where all of its rows are computed at once or (`false`) one by one.
    pub fn offers(&self, node: ir::NodeId, whole: bool) -> Vec<select::Choice> {
        let options = Options { optimize: self.passes, ..self.options.clone() };
        select::Kernels::default().offers(&self.graph, node, &options, whole)
    }

    /// The generated Rust. `vis` is the visibility of the type.
    pub fn tokens(&self, vis: &TokenStream) -> TokenStream {
        self.tokens_with(vis, &[])
    }

    /// The generated Rust, with the paths of custom operators' functions as the user wrote them: errors point there.
    fn tokens_with(&self, vis: &TokenStream, paths: &[syn::ExprPath]) -> TokenStream {
        self.tokens_in(vis, emit::Place::Macro(paths))
    }

    fn tokens_in(&self, vis: &TokenStream, place: emit::Place<'_>) -> TokenStream {
        emit::emit(&self.graph, &self.program, &self.options, vis, place)
    }

    /// The generated Rust as a formatted file.
    ///
    /// # Errors
    /// [`Error::Internal`] if the emitter wrote what is no Rust.
    pub fn file(&self, vis: &TokenStream) -> Result<String, Error> {
        Ok(format!("{}\n\n{}", self.generated(), formatted(self.tokens(vis))?))
    }

    /// The generated Rust as a file that stands in a crate: no lint of the crate is about it, and rustfmt leaves it as it is. `data` is the name of a file beside it
    /// that holds [`Compiled::data`]; without it, the data is in the code.
    ///
    /// # Errors
    /// [`Error::Internal`] if the emitter wrote what is no Rust.
    pub fn source_file(&self, vis: &TokenStream, data: Option<&str>) -> Result<String, Error> {
        Ok(emit::broken(&formatted(self.tokens_in(vis, emit::Place::File(data)))?))
    }

    /// The model's data, as the code of [`Compiled::source_file`] reads it.
    pub fn data(&self) -> Vec<u8> {
        self.program.constants.iter().flat_map(|constant| constant.data.bytes()).copied().collect()
    }

    /// The comment that generated files begin with.
    pub fn generated(&self) -> String {
        // A file's name may hold a line break, which would end the comment.
        let name = self.graph.name.escape_debug();
        format!("// @generated by Kiln {} from the model `{name}`.", env!("CARGO_PKG_VERSION"))
    }
}

/// Generated Rust as people write it.
fn formatted(code: TokenStream) -> Result<String, Error> {
    emit::pretty(code).map_err(|e| Error::internal("emit", e))
}
