//! The installed command in a checkout, whose Cargo configuration has an alias of its own.

use std::path::Path;
use std::process::Command;

#[test]
fn the_checkout_does_not_hide_the_installed_command() {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-kiln"));
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        [program.parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&folders)),
    )
    .unwrap();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(checkout).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let by_cargo = run(Command::new(env!("CARGO")).env("PATH", path).args(["kiln", "boards"]));
    assert_eq!(by_cargo, run(Command::new(program).args(["kiln", "boards"])));
}
