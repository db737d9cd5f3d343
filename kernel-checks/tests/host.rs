//! Every check on the host, many rounds of it. `KILN_ROUNDS` sets how many, `KILN_CHECK` picks those whose name contains it.

use kiln_kernel_checks::{all, Storage, CREW};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn kernels_compute_what_they_mean() {
    let rounds = std::env::var("KILN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1_000);
    let wanted = std::env::var("KILN_CHECK").unwrap_or_default();
    // Kernels that two cores compute have another one that helps.
    static DONE: AtomicBool = AtomicBool::new(false);
    let helper = thread::spawn(|| {
        CREW.help(|| {
            thread::yield_now();
            !DONE.load(Ordering::Relaxed)
        });
    });
    let mut storage = Box::new(Storage::new());
    let mut failed = Vec::new();
    for check in all().filter(|check| check.name.contains(&wanted)) {
        match check.run(&mut storage, rounds) {
            Ok(()) => println!("{}: {rounds} rounds", check.name),
            Err(failure) => failed.push(failure.to_string()),
        }
    }
    DONE.store(true, Ordering::Relaxed);
    helper.join().unwrap();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = all().map(|check| check.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "operands are drawn by name: two checks of one name would draw the same");
}
