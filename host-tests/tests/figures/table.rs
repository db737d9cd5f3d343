//! The tables of `docs/benchmarks.md`, and the small one of the README.

use crate::baselines::Baseline;
use crate::measured::Measured;
use cargo_kiln::bench::Report;
use cargo_kiln::number::grouped;

/// The models of the README's table.
const SUMMARY: &[&str] = &[
    "mlperf_kws_int8",
    "mlperf_ic_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mww_okay_nabu",
    "tflm_person_detect_int8",
];

/// Rows of the tables.
pub struct Tables {
    pub summary: Vec<String>,
    pub speed: Vec<String>,
    pub memory: Vec<String>,
    pub small: Vec<String>,
    pub helium: Vec<String>,
    pub riscv: Vec<String>,
}

impl Tables {
    pub fn new(measured: &[Measured]) -> Tables {
        let rows = |row: fn(&Measured) -> Option<String>| measured.iter().filter_map(row).collect();
        Tables {
            summary: rows(summary),
            speed: rows(speed),
            memory: rows(memory),
            small: rows(small),
            helium: rows(helium),
            riscv: rows(riscv),
        }
    }

    /// The rows of `docs/benchmarks.md`.
    pub fn rows(&self) -> impl Iterator<Item = &String> {
        self.speed.iter().chain(&self.memory).chain(&self.small).chain(&self.helium).chain(&self.riscv)
    }

    /// What stands between the marks in the README.
    pub fn summary_text(&self, compiler: &str) -> String {
        format!(
            "One inference on a Cortex-M4, estimated cycles and bytes. TFLM is TensorFlow Lite Micro with CMSIS-NN; Kiln is compiled with `{compiler}`.\n\n\
             | model | TFLM cycles | Kiln cycles | faster | TFLM RAM | Kiln RAM | TFLM code | Kiln code |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|\n{}\n",
            self.summary.join("\n"),
        )
    }

    /// What stands between the marks in `docs/benchmarks.md`.
    pub fn text(&self, compiler: &str) -> String {
        format!(
            "One inference under QEMU, compiled with `{compiler}`. Executed instructions are exact. Cycles are estimated for memory without \
             wait states, by [the same method](cycles.md) for both. TFLM is TensorFlow Lite Micro with CMSIS-NN at its best optimisation level \
             (August 2026, arm-none-eabi-gcc 12.2; [how it was measured](../host-tests/baselines/tflm.toml)). Kiln uses `optimize = \"speed\"` unless \
             a column says otherwise. MACs are counted in the model file, even where Kiln computes fewer. `cargo kiln bench MODEL --optimize speed,size` prints the figures of a row.\n\n\
             **Cortex-M4**\n\n\
             | model | MACs | TFLM cycles | Kiln cycles | faster | TFLM cycles/MAC | Kiln cycles/MAC | TFLM instructions | Kiln instructions | Kiln cycles, `\"size\"` |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n{}\n\n\
             **Flash and RAM** in bytes. Code is the code of the model and its kernels, without start-up code and harness (2 to 3 KB). Other constants are parameters \
             of kernels, and those of the harness. TFLM is code and constants without the model file. RAM is arena and state. The stack comes on top.\n\n\
             | model | TFLM flash without the model | code, `\"speed\"` | code, `\"size\"` | other constants | weights | TFLM arena | RAM | stack |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|\n{}\n\n\
             **Cortex-M0+**: cycles with the single-cycle multiplier, and with the small one, which takes 32.\n\n\
             | model | TFLM instructions | Kiln instructions | Kiln / TFLM | cycles | cycles, small multiplier |\n\
             |---|--:|--:|--:|--:|--:|\n{}\n\n\
             **Cortex-M55** with Helium: executed instructions. TFLM has CMSIS-NN's kernels for Helium (November 2026, gcc 12.2 and clang 16, the better of both). Its LSTM loses its state there. \
             Cycles of this core are [estimated](cycles.md#cortex-m55), but not compared: those of TFLM were not recorded.\n\n\
             | model | TFLM instructions | Kiln instructions | fewer | RAM | code |\n\
             |---|--:|--:|--:|--:|--:|\n{}\n\n\
             **RV32IMC**: executed instructions. TFLM has its reference kernels, or those of ESP-NN in C where they take fewer instructions (November 2026, gcc 12.2 and clang 16, the better of both).\n\n\
             | model | TFLM instructions | Kiln instructions | fewer | RAM | code |\n\
             |---|--:|--:|--:|--:|--:|\n{}\n",
            self.speed.join("\n"),
            self.memory.join("\n"),
            self.small.join("\n"),
            self.helium.join("\n"),
            self.riscv.join("\n"),
        )
    }
}

fn summary(measured: &Measured) -> Option<String> {
    let (report, theirs) = (measured.speed.as_ref()?, measured.baseline.as_ref()?);
    if theirs.sliding || !SUMMARY.contains(&measured.name.as_str()) {
        return None;
    }
    let ours = report.result();
    Some(format!(
        "| {} | {} | {} | {} × | {} | {} | {} | {} |",
        measured.name,
        grouped(theirs.cycles),
        grouped(ours.total.cycles),
        per(theirs.cycles, ours.total.cycles, 1),
        grouped(theirs.arena),
        grouped(report.ram_bytes() as u64),
        grouped(theirs.flash),
        grouped(ours.flash.model_code),
    ))
}

fn speed(measured: &Measured) -> Option<String> {
    let name = title(measured);
    let theirs = measured.baseline.as_ref();
    let of_theirs = |value: fn(&Baseline) -> String| theirs.map_or("–".into(), value);
    let their_cycles = of_theirs(|b| grouped(b.cycles));
    let their_instructions = of_theirs(|b| grouped(b.instructions));
    let each = of_theirs(|b| per(b.cycles, b.macs, 1));
    let Some(report) = &measured.speed else {
        let (macs, operator) = (of_theirs(|b| grouped(b.macs)), theirs?.lacks.clone()?);
        return Some(format!(
            "| {name} | {macs} | {their_cycles} | not yet: {operator} | – | {each} | – | {their_instructions} | – | – |"
        ));
    };
    let ours = report.result().total;
    let macs = theirs.filter(|b| !b.sliding).map_or(report.macs(), |b| Some(b.macs));
    Some(format!(
        "| {name} | {} | {their_cycles} | {} | {} | {each} | {} | {their_instructions} | {} | {} |",
        macs.map_or("–".into(), grouped),
        grouped(ours.cycles),
        theirs.map_or("–".into(), |b| format!("{} ×", per(b.cycles, ours.cycles, 1))),
        macs.map_or("–".into(), |macs| per(ours.cycles, macs, 2)),
        grouped(ours.instructions),
        measured.size.as_ref().map_or("–".into(), |size| grouped(size.result().total.cycles)),
    ))
}

fn memory(measured: &Measured) -> Option<String> {
    let (speed, size) = (measured.speed.as_ref()?, measured.size.as_ref()?);
    let theirs = |value: fn(&Baseline) -> u64| {
        measured.baseline.as_ref().map_or("–".into(), |baseline| grouped(value(baseline)))
    };
    let flash = |report: &Report| report.result().flash;
    Some(format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        title(measured),
        theirs(|b| b.flash),
        grouped(flash(speed).model_code),
        grouped(flash(size).model_code),
        grouped(flash(speed).constants),
        grouped(flash(speed).weights),
        theirs(|b| b.arena),
        grouped(speed.ram_bytes() as u64),
        grouped(speed.result().stack_bytes),
    ))
}

fn small(measured: &Measured) -> Option<String> {
    let (report, theirs) = (measured.m0.as_ref()?, measured.baseline.as_ref()?.m0_instructions?);
    let ours = report.result().total;
    let [slow, _] = report.result().small_cores()?;
    Some(format!(
        "| {} | {} | {} | {} | {} | {} |",
        title(measured),
        grouped(theirs),
        grouped(ours.instructions),
        per(ours.instructions, theirs, 2),
        grouped(ours.cycles),
        grouped(slow),
    ))
}

fn helium(measured: &Measured) -> Option<String> {
    let theirs = measured.baseline.as_ref()?.m55_instructions?;
    Some(instructions(measured, measured.m55.as_ref()?, theirs))
}

fn riscv(measured: &Measured) -> Option<String> {
    let theirs = measured.baseline.as_ref()?.rv32_instructions?;
    Some(instructions(measured, measured.rv32.as_ref()?, theirs))
}

/// Instructions, RAM and code.
fn instructions(measured: &Measured, report: &Report, theirs: u64) -> String {
    let ours = report.result();
    format!(
        "| {} | {} | {} | {} × | {} | {} |",
        title(measured),
        grouped(theirs),
        grouped(ours.total.instructions),
        per(theirs, ours.total.instructions, 1),
        grouped(report.ram_bytes() as u64),
        grouped(ours.flash.model_code),
    )
}

fn title(measured: &Measured) -> String {
    match &measured.baseline {
        Some(baseline) if baseline.sliding => format!("{}, one hop of `slide`", measured.name),
        _ => measured.name.clone(),
    }
}

fn per(a: u64, b: u64, digits: usize) -> String {
    format!("{:.digits$}", a as f64 / b.max(1) as f64)
}
