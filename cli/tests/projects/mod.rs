//! How tests build new projects.

use kiln_boards::work_dir;
use std::process::Command;

/// Builds take less time than those of users: what is built runs once, if at all. `examples` has firmware that is optimised as a new project's is.
const QUICKLY: [(&str, &str); 5] = [
    ("CARGO_PROFILE_DEV_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
];

/// Has a Cargo command build quickly, in the folder of all such projects. So the compiler is built once for them.
pub(crate) fn build_quickly(command: &mut Command) {
    command.envs(QUICKLY);
    command.env("CARGO_TARGET_DIR", work_dir().unwrap().join("new/target"));
}
