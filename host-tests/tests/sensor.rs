//! Readings of an accelerometer in units, filtered and resampled as scipy does it (`host-tests/sensor/make.py`).

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use cargo_kiln::npz::{self, Array};
use kiln::sensor::{Biquads, Resampler, Units};
use kiln_codegen::ir::DType;
use std::collections::BTreeMap;
use std::path::Path;

/// How far results may be from scipy's, which are computed in float64: parts of the largest.
const LIMIT: f32 = 1e-5;

/// An accelerometer of ±4 g.
const UNITS: Units<3> = Units::full_scale([4.0; 3]);

struct Golden(BTreeMap<String, Array>);

impl Golden {
    fn read() -> Golden {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sensor/golden.npz");
        Golden(npz::read(&file).unwrap())
    }

    /// The numbers in rows of `N`.
    fn rows<const N: usize>(&self, name: &str) -> Vec<[f32; N]> {
        let floats = self.0[name].data.to_f32();
        assert!(floats.len() % N == 0 && !floats.is_empty(), "{name}");
        floats.chunks(N).map(|row| row.try_into().unwrap()).collect()
    }

    fn samples(&self) -> Vec<[f32; 3]> {
        let steps = self.0["readings"].data.to_ints(DType::I16);
        let readings = steps.chunks(3).map(|axes| [0, 1, 2].map(|axis| axes[axis] as i16));
        readings.map(|reading| UNITS.of(&reading)).collect()
    }
}

fn assert_near(found: &[[f32; 3]], expected: &[[f32; 3]], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let (found, expected) = (found.as_flattened(), expected.as_flattened());
    let most = expected.iter().fold(0f32, |most, value| most.max(value.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).abs() / most;
        assert!(off <= LIMIT, "{what}, {i}: {found}, not {expected}");
    }
}

fn assert_filters<const SECTIONS: usize>(golden: &Golden, name: &str) {
    let sections = golden.rows(&format!("{name}.sos")).try_into().unwrap();
    let (mut filter, samples) = (Biquads::<SECTIONS, 3>::new(sections), golden.samples());
    for beginning in ["silent", "settled"] {
        filter.reset();
        if beginning == "settled" {
            filter.settle(&samples[0]);
        }
        let found: Vec<_> = samples.iter().map(|sample| filter.push(sample)).collect();
        let name = format!("{name}.{beginning}");
        assert_near(&found, &golden.rows(&name), &name);
    }
}

#[test]
fn filters_are_those_of_scipy() {
    let golden = Golden::read();
    assert_filters::<1>(&golden, "gravity");
    assert_filters::<1>(&golden, "mains");
    assert_filters::<2>(&golden, "walking");
    assert_filters::<2>(&golden, "smooth");
    assert_filters::<4>(&golden, "steep");
}

fn assert_resamples<const UP: usize, const DOWN: usize, const TAPS: usize>(golden: &Golden) {
    let filter: [[f32; UP]; TAPS] = golden.rows(&format!("{UP}_{DOWN}.taps")).try_into().unwrap();
    let mut resampler = Resampler::<UP, DOWN, TAPS, 3>::new(Box::leak(Box::new(filter)));
    let name = format!("{UP}_{DOWN}.resampled");
    for block in [1, 7, 150] {
        let mut found = Vec::new();
        for mut rest in golden.samples().chunks(block) {
            while let Some(sample) = resampler.push(&mut rest) {
                found.push(sample);
            }
        }
        assert_near(&found, &golden.rows(&name), &name);
        resampler.reset();
    }
}

#[test]
fn other_rates_are_those_of_scipy() {
    let golden = Golden::read();
    assert_resamples::<1, 2, 41>(&golden);
    assert_resamples::<1, 5, 101>(&golden);
    assert_resamples::<2, 1, 21>(&golden);
    assert_resamples::<3, 2, 21>(&golden);
    assert_resamples::<2, 3, 31>(&golden);
    assert_resamples::<5, 4, 21>(&golden);
    assert_resamples::<10, 13, 27>(&golden);
    assert_resamples::<25, 52, 42>(&golden);
}
