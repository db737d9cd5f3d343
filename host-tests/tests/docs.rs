//! The pictures and the plan in `docs/` are those of the digits example as it is compiled now. `KILN_BLESS=1` writes them. The page of options has the names of all targets.

use cargo_kiln::plan;
use kiln_codegen::{compile_file, Optimize, Options, Target};
use kiln_tools::report::picture;
use std::path::Path;

const BEGIN: &str = "<!-- digits plan: begin -->\n";
const END: &str = "<!-- digits plan: end -->";

#[test]
fn pictures_and_plan_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let model = root.join("examples/digits/models/digits_int8.tflite");
    let compiled =
        compile_file(&model, &Options { optimize: Optimize::Memory, ..Options::default() }).unwrap();
    assert!(
        !compiled.schedule.pipelines.is_empty(),
        "the page is about a model that is compiled to a pipeline"
    );

    let page = std::fs::read_to_string(root.join("docs/memory.md")).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has no place for the plan");
    let (_, after) = rest.split_once(END).expect("the page has no end of the plan");
    let plan = format!("```text\n{}```\n", plan::text(&compiled));
    let files = [
        ("docs/memory.md", format!("{before}{BEGIN}{plan}{END}{after}")),
        ("docs/digits.pipeline.svg", picture::pipeline(&compiled, 0).unwrap()),
        ("docs/digits.arena.svg", picture::arena(&compiled)),
    ];
    for (file, text) in files {
        let path = root.join(file);
        if std::env::var_os("KILN_BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
        } else {
            let old = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(old == text, "{file} is not fresh (KILN_BLESS=1 writes it)");
        }
    }
}

#[test]
fn options_list_all_targets() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/options.md")).unwrap();
    let missing: Vec<&str> = Target::names().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/options.md does not list {missing:?}");
}

/// What was missing when models that nobody here had seen were tried from the README alone.
#[test]
fn guides_say_what_is_easily_missed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let says = |file: &str, what: &str| {
        let page = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(page.contains(what), "{file} does not say {what:?}");
    };
    // A slice of another length would panic while the firmware runs.
    says("README.md", "*kws.input_mut() = features;");
    for file in ["README.md", "docs/getting-started.md", "cli/templates/README.md.j2"] {
        let page = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(!page.contains("input_mut().copy_from_slice"), "{file} copies a slice into an input");
    }
    says("docs/options.md", "a private module beside it: `kws_model`");
    says("docs/memory.md", "borrows an arena for the lifetime `'a`");
    says("docs/troubleshooting.md", "[profile.dev.build-override]\ndebug = false");
    says("cli/templates/Cargo.toml.j2", "[profile.dev.build-override]\ndebug = false");
    says("docs/getting-started.md", "The alias needs Cargo 1.91");
    says("cli/templates/README.md.j2", "needs Cargo 1.91");
}
