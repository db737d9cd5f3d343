//! What is proven of a compiled model, each with its evidence. Nothing is quoted: what can be checked again is checked again here.

use super::kernels::{kernels, Requantisation};
use kiln_codegen::{plan, schedule, verify, Compiled};
use kiln_ir::{DType, Graph, Node, Op, ValueId};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// A claim and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What is claimed.
    pub claim: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was counted or compared.
    pub evidence: String,
}

/// What nobody has proven, so that nobody relies on it.
pub const NOT_PROVEN: [&str; 3] = [
    "how much stack an inference takes: `cargo kiln bench` measures it",
    "how many cycles it takes on a chip with wait states and caches: estimates leave both out",
    "that your firmware has no path to a panic: of the model's code alone, a report with `--on` says whether it has one",
];

/// Every proof of a compilation.
pub fn certificate(compiled: &Compiled) -> Vec<Proof> {
    let mut proofs = vec![sound(compiled), rows(compiled), bytes(compiled), least(compiled)];
    proofs.extend(sums(compiled));
    proofs.extend(requantisation(compiled));
    proofs.push(code(compiled));
    proofs.extend(budgets(compiled));
    proofs
}

fn sound(compiled: &Compiled) -> Proof {
    let found = verify::verify(&compiled.graph);
    let (ops, passes) = (compiled.graph.order.len(), compiled.log.entries.len());
    Proof {
        claim: "The graph is sound: shapes, types, quantisation and order of evaluation agree",
        holds: found.is_ok(),
        evidence: match found {
            Ok(()) => format!(
                "{ops} ops verified; also after the reader and after each of {passes} changes by passes"
            ),
            Err(violations) => format!("{} violations", violations.len()),
        },
    }
}

fn rows(compiled: &Compiled) -> Proof {
    let found = schedule::check(&compiled.graph, &compiled.schedule);
    let bands = compiled.schedule.bands().count();
    Proof {
        claim: "Every row that is read has been written, and not yet been overwritten",
        holds: found.is_ok(),
        evidence: match found {
            Ok(()) => format!("the schedule was executed call by call, {bands} of them, by a checker that shares no code with the scheduler"),
            Err(_) => "the checker of schedules objects".into(),
        },
    }
}

fn bytes(compiled: &Compiled) -> Proof {
    let found = plan::check(&compiled.graph, &compiled.schedule, &compiled.plan);
    let overlaps = super::memory::overlaps(compiled).len();
    Proof {
        claim: "No buffer of the arena overwrites what another one still needs",
        holds: found.is_ok(),
        evidence: match found {
            Ok(()) => format!("the same at the planned addresses; {overlaps} pairs of buffers overlap, row by row, as the checker allows"),
            Err(_) => "the checker of plans objects".into(),
        },
    }
}

fn least(compiled: &Compiled) -> Proof {
    let (bytes, least) = (compiled.plan.scratch_bytes(), compiled.plan.lower_bound);
    let evidence = match bytes.saturating_sub(least) {
        0 => format!("{bytes} B, which is the least possible with this schedule"),
        more => format!("{bytes} B; no arena of this schedule is below {least} B, {more} B less"),
    };
    Proof { claim: "The arena is at least as large as its lower bound", holds: bytes >= least, evidence }
}

/// The 32-bit sums of integer layers; `None` where there is none.
fn sums(compiled: &Compiled) -> Option<Proof> {
    let bounds: Vec<u64> =
        compiled.graph.nodes().filter_map(|(_, node)| largest_sum(&compiled.graph, node)).collect();
    let most = *bounds.iter().max()?;
    let over = bounds.iter().filter(|&&bound| bound > i32::MAX as u64).count();
    let evidence = match over {
        0 => format!(
            "{} layers; with any input, and in any order of addition, no sum exceeds {most} in magnitude: {} of 31 bits",
            bounds.len(),
            u64::BITS - most.leading_zeros()
        ),
        _ => format!("the sums of {over} of {} layers may exceed 31 bits: they wrap, as in TensorFlow Lite", bounds.len()),
    };
    Some(Proof { claim: "No accumulator of an integer layer overflows", holds: over == 0, evidence })
}

/// A bound of the magnitude of any partial sum of an int8 convolution or matrix product, for stored operands of any value.
pub(crate) fn largest_sum(graph: &Graph, node: &Node) -> Option<u64> {
    let (Op::Conv2d { .. } | Op::Dense { .. }) = node.op else { return None };
    let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
    let weights = Some(w).filter(|&w| graph.ty(w).dtype == DType::I8 && graph.ty(x).dtype == DType::I8);
    let weights = graph.const_data(weights?)?.to_i8();
    let filters = graph.ty(w).shape.dims().first().copied()?;
    let ints = |id: &ValueId| graph.const_data(*id).map(|data| data.to_i32());
    let bias = node.operands.get(2).and_then(ints).unwrap_or_default();
    let zero = i64::from(graph.ty(x).zero_point());
    let taps = weights.len().checked_div(filters)?.max(1);
    let bound = |(filter, weights): (usize, &[i8])| {
        let sum: i64 = weights.iter().map(|&w| i64::from(w)).sum();
        let magnitude: u64 = weights.iter().map(|&w| u64::from(w.unsigned_abs())).sum();
        let first = bias.get(filter).map_or(0, |&b| i64::from(b)) - zero * sum;
        first.unsigned_abs() + 128 * magnitude
    };
    weights.chunks(taps).enumerate().map(bound).max()
}

/// Layers whose sums become 8-bit results; `None` where there is none.
fn requantisation(compiled: &Compiled) -> Option<Proof> {
    let forms: Vec<Requantisation> = kernels(compiled).iter().map(|step| step.requantisation).collect();
    let proven = forms.iter().filter(|form| form.is_proven()).count();
    let reference = forms.iter().filter(|&&form| form == Requantisation::Reference).count();
    let evidence = format!(
        "{proven} layers in cheaper arithmetic, compared with the reference at every step of every channel when they were compiled; {reference} as the reference does it"
    );
    let claim = "Where sums become results in cheaper arithmetic, it gives the bits of the reference";
    (proven + reference > 0).then_some(Proof { claim, holds: true, evidence })
}

/// What the generated code must not contain: whatever is unsafe, panics or allocates.
const FORBIDDEN: [&str; 12] = [
    "unsafe",
    "panic",
    "unwrap",
    "expect",
    "unreachable",
    "todo",
    "assert_eq",
    "alloc",
    "Box",
    "Vec",
    "String",
    "format",
];

fn code(compiled: &Compiled) -> Proof {
    let mut found = Vec::new();
    forbidden(compiled.tokens(&quote!(pub)), &mut found);
    found.sort_unstable();
    found.dedup();
    Proof {
        claim: "The generated code has no `unsafe`, and nothing that panics or allocates by name",
        holds: found.is_empty(),
        evidence: match found.is_empty() {
            true => "every token of it was looked at; ranges of memory are checked while it compiles".into(),
            false => format!("it contains {}", found.join(", ")),
        },
    }
}

fn forbidden(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => forbidden(group.stream(), found),
            TokenTree::Ident(ident) if FORBIDDEN.iter().any(|word| ident == word) => {
                found.push(ident.to_string())
            }
            _ => {}
        }
    }
}

fn budgets(compiled: &Compiled) -> Vec<Proof> {
    let (ram, flash) = (compiled.plan.ram_bytes(), compiled.program.constant_bytes());
    let budget = |claim, budget: Option<usize>, need: usize| {
        let evidence = format!("{need} of {} B", budget?);
        Some(Proof { claim, holds: budget.is_some_and(|budget| need <= budget), evidence })
    };
    let options = &compiled.options;
    let ram = budget("Arena and state fit the RAM budget", options.ram, ram);
    ram.into_iter().chain(budget("Constants fit the flash budget", options.flash, flash)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{compiled, CHAIN};
    use kiln_codegen::Input;

    const DENSE: &str = "graph \"dense\" {
        input %x: i8[1,2] q(0.5 : -3)
        const %w: i8[2,2] q(0.5 : 0) = [1, -2, 127, 127]
        const %b: i32[2] q(0.25 : 0) = [10, 2147483647]
        %y: i8[1,2] q(0.5 : -3) = dense(%x, %w, %b) {rescale = [1073741824 * 2^-1], clamp = -128..=127}
        return %y
    }";

    #[test]
    fn proofs_of_a_chain() {
        let compiled = compiled(CHAIN, Input::Rows);
        let proofs = certificate(&compiled);
        assert!(proofs.iter().all(|proof| proof.holds), "{proofs:#?}");
        // There is no integer layer.
        assert!(proofs.iter().all(|proof| !proof.claim.contains("accumulator")));
    }

    #[test]
    fn sums_that_may_wrap_are_named() {
        let graph = Graph::parse(DENSE).unwrap();
        let (_, node) = graph.nodes().next().unwrap();
        let most = (i64::from(i32::MAX) + 3 * 254).unsigned_abs() + 128 * 254;
        assert_eq!(largest_sum(&graph, node), Some(most));
        let compiled = kiln_codegen::compile_graph(graph, &Default::default()).unwrap();
        let proofs = certificate(&compiled);
        let broken: Vec<_> = proofs.iter().filter(|proof| !proof.holds).map(|proof| proof.claim).collect();
        assert_eq!(broken, ["No accumulator of an integer layer overflows"]);
    }

    #[test]
    fn what_is_broken_is_not_certified() {
        let mut compiled = compiled(CHAIN, Input::Whole);
        compiled.plan.offsets.iter_mut().for_each(|offset| *offset = 0);
        compiled.plan.arena_bytes = 8;
        compiled.options.ram = Some(4);
        let broken = certificate(&compiled).iter().filter(|proof| !proof.holds).count();
        assert_eq!(broken, 3);
    }

    #[test]
    fn forbidden_words_are_found_anywhere() {
        let mut found = Vec::new();
        forbidden(
            quote!(
                fn f() {
                    if true {
                        unsafe { g() }
                    }
                }
            ),
            &mut found,
        );
        assert_eq!(found, ["unsafe"]);
    }
}
