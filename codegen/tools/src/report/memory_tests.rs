//! Tests of the view of memory over time, which budgets use, too.

use super::testing::{compiled, CHAIN, SLIDING};
use kiln_codegen::budget::memory::{overlaps, peak, retained, rows, Overlap, Region, Row};
use kiln_codegen::{compile_graph, Input, Options};

#[test]
fn operand_and_result_are_live_during_a_step() {
    let text = "graph \"chain\" {
        input %x: f32[1,4,4,1]
        %big: f32[1,4,4,2] = concat(%x, %x) {axis = 3}
        %small: f32[1,1,1,2] = max_pool2d(%big) {window = [4, 4], clamp = -inf..=inf}
        return %small
    }";
    let compiled = compiled(text, Input::Whole);
    let live: Vec<Vec<usize>> = rows(&compiled)
        .iter()
        .map(|row| {
            let mut sizes: Vec<usize> = row.buffers.iter().map(|b| b.bytes).collect();
            sizes.sort_unstable();
            sizes
        })
        .collect();
    assert_eq!(live, [[64, 128], [8, 128]]);
    assert_eq!(peak(&compiled).map(|row| row.op), Some("concat".into()));
}

#[test]
fn overlapping_bytes_count_once() {
    let mut compiled = compiled(CHAIN, Input::Whole);
    let apart = overlaps(&compiled);
    let [input, pooled] = ["x", "a"].map(|name| {
        let value = compiled.graph.values().find(|(_, v)| v.label() == name).unwrap().0;
        compiled.schedule.storage.place(value).unwrap().buffer.0 as usize
    });
    compiled.plan.offsets[pooled] = 0;
    compiled.plan.offsets[input] = 48;
    let expected = Overlap { steps: 0..1, lower: "a".into(), upper: "x".into(), gap: 48, bytes: 128 - 48 };
    let now: Vec<Overlap> = overlaps(&compiled).into_iter().filter(|o| !apart.contains(o)).collect();
    assert!(now.contains(&expected), "{now:?}");
    assert_eq!(rows(&compiled)[0].live_bytes, 128 + 48);
}

#[test]
fn each_buffer_is_in_its_arena() {
    let one = compiled(CHAIN, Input::Whole);
    let options = Options { fast_ram: Some(one.plan.arena_bytes / 2), ..one.options.clone() };
    let two = compile_graph(one.graph.clone(), &options).unwrap();
    let bytes = [two.plan.arena_bytes, two.plan.fast_bytes.unwrap()];
    let all: Vec<Region> = rows(&two).into_iter().flat_map(|row| row.buffers).collect();
    assert!(all.iter().all(|r| r.offset + r.bytes <= bytes[usize::from(r.fast)]), "{all:?} in {bytes:?}");
    assert!(all.iter().any(|r| r.fast) && all.iter().any(|r| !r.fast), "{all:?}");
}

#[test]
fn rings_of_sliding_models_are_retained() {
    let kept = retained(&compiled(SLIDING, Input::Sliding));
    let about: Vec<_> = kept.iter().map(|r| (r.name.as_str(), r.bytes, r.ring)).collect();
    assert_eq!(about, [("x", 48, Some(3))]);
}

#[test]
fn rings_and_sums_have_names() {
    let rows = rows(&compiled(CHAIN, Input::Rows));
    let buffers = |row: &Row| -> Vec<(String, Option<usize>)> {
        row.buffers.iter().map(|b| (b.name.clone(), b.ring)).collect()
    };
    let mean = buffers(&rows[2]);
    assert!(mean.contains(&("x".into(), Some(3))), "{mean:?}");
    assert!(mean.contains(&("sums of m".into(), None)), "{mean:?}");
}
