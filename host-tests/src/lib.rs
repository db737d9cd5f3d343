//! Equivalence, golden files, UI tests and benchmarks of Kiln
