//! The table of kernels is that of the runtime, and `docs/kernels.md` that of the table. `KILN_BLESS=1` writes the page.

use kiln_kernel_table::{Format, Isa, KernelId, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{
    FnArg, GenericArgument, Item, PathArguments, ReturnType, Type, TypeParamBound, UseTree, Visibility,
};

/// What this host has: the functions of all rows.
macro_rules! import {
    ($( $op:ident { $( $isa:ident { $(
        $id:ident = $name:ident $operands:tt -> $result:ident $({ $($field:tt)* })?;
    )* } )* } )*) => {
        #[allow(unused_imports)]
        use kiln::kernels::{ $($($( $name, )*)*)* };
    };
}
kiln_kernel_table::kernel_table!(import);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn parsed(path: &Path) -> syn::File {
    syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The modules below a path of a `use` all of whose public items are kernels.
fn families(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<PathBuf>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            families(&part.tree, path, found);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| families(tree, path, found)),
        UseTree::Glob(_) => found.push(path.iter().skip(1).collect()),
        UseTree::Name(name) => assert!(
            name.ident.to_string().starts_with(char::is_uppercase),
            "`kiln::kernels` exports families of kernels, not `{}`",
            name.ident
        ),
        UseTree::Rename(_) => panic!("`kiln::kernels` exports kernels by their names"),
    }
}

/// The public functions of a family, also those that macros make: what a macro is called with says `pub fn` before the name of each.
fn kernels(file: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for item in parsed(file).items {
        let tokens = quote::quote!(#item).to_string();
        match item {
            // Kernels have no result: what has one computes a size.
            Item::Fn(function) if matches!(function.vis, Visibility::Public(_)) => {
                if matches!(function.sig.output, ReturnType::Default) {
                    found.push(function.sig.ident.to_string());
                }
            }
            Item::Macro(item) if item.ident.is_some() => {
                let hidden = tokens.contains("pub fn $");
                assert!(!hidden, "a macro of {} makes functions public by itself", file.display());
            }
            Item::Macro(_) => found.extend(
                tokens
                    .split("pub fn ")
                    .skip(1)
                    .filter_map(|rest| Some(rest.split([' ', '<', '(', ':']).next()?.into())),
            ),
            _ => {
                assert!(!tokens.starts_with("pub "), "{} has a public item that is no kernel", file.display())
            }
        }
    }
    found
}

/// Public functions of the runtime's `arch` by their names; not those that macros make.
fn functions() -> BTreeMap<String, syn::Signature> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().join("runtime-nostd/src/arch")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            for item in parsed(&path).items {
                if let Item::Fn(function) = item {
                    if matches!(function.vis, Visibility::Public(_)) {
                        found.insert(function.sig.ident.to_string(), function.sig);
                    }
                }
            }
        }
    }
    found
}

/// The folders of `arch` whose kernels `kiln::kernels` exports, with their names.
fn processors() -> Vec<(String, PathBuf)> {
    let arch = root().join("runtime-nostd/src/arch");
    let of_all = inline_module(&arch.join("mod.rs"), "kernels");
    let names = of_all.iter().map(|tree| match tree {
        UseTree::Path(parent) => match &*parent.tree {
            UseTree::Path(processor) => processor.ident.to_string(),
            _ => panic!("`arch::kernels` exports the kernels of processors"),
        },
        _ => panic!("`arch::kernels` exports the kernels of processors"),
    });
    names.map(|name| (name.clone(), arch.join(name))).collect()
}

/// The modules of a processor's folder whose kernels it exports.
fn exports(folder: &Path) -> Vec<PathBuf> {
    let mut modules = Vec::new();
    for tree in inline_module(&folder.join("mod.rs"), "kernels") {
        families(&tree, &mut Vec::new(), &mut modules);
    }
    modules
}

/// What a module that stands in a file uses.
fn inline_module(file: &Path, name: &str) -> Vec<UseTree> {
    let items = parsed(file).items.into_iter().find_map(|item| match item {
        Item::Mod(item) if item.ident == name => item.content.map(|(_, items)| items),
        _ => None,
    });
    let items = items.unwrap_or_else(|| panic!("{} has a module `{name}`", file.display()));
    let uses = items.into_iter().map(|item| match item {
        Item::Use(item) => item.tree,
        _ => panic!("the module `{name}` of {} exports, and nothing else", file.display()),
    });
    uses.collect()
}

#[test]
fn the_runtime_has_the_kernels_of_the_table_and_no_others() {
    let mut exported = BTreeMap::new();
    for (isa, folder) in processors() {
        for module in exports(&folder) {
            let names = kernels(&folder.join(module).with_extension("rs"));
            exported.extend(names.into_iter().map(|name| (name, isa.clone())));
        }
    }
    let table: BTreeMap<String, String> = KernelId::ALL
        .iter()
        .map(|kernel| (kernel.name().to_owned(), format!("{:?}", kernel.isa()).to_lowercase()))
        .collect();
    let difference = |a: &BTreeMap<String, String>, b: &BTreeMap<String, String>| -> Vec<String> {
        a.iter()
            .filter(|&(name, isa)| b.get(name) != Some(isa))
            .map(|(name, isa)| format!("{isa} {name}"))
            .collect()
    };
    assert_eq!(difference(&exported, &table), [""; 0], "exported, but not so in the table");
    assert_eq!(difference(&table, &exported), [""; 0], "in the table, but not so exported");
}

/// The elements that a parameter holds: of `Rows<'_, T>`, `&[Cell<T>]` and `impl Read<T>`.
fn element(ty: &Type) -> Option<String> {
    let path = match ty {
        Type::Path(path) => &path.path,
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => match &*slice.elem {
                Type::Path(path) => &path.path,
                _ => return None,
            },
            _ => return None,
        },
        Type::ImplTrait(bounds) => match bounds.bounds.first()? {
            TypeParamBound::Trait(bound) => &bound.path,
            _ => return None,
        },
        _ => return None,
    };
    let last = path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let element = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(Type::Path(element)) => element.path.get_ident(),
        _ => None,
    })?;
    ["Rows", "Cell", "Read"].iter().any(|holder| last.ident == holder).then(|| element.to_string())
}

/// Whether elements of that Rust type are of the format. Types of generic functions are single letters.
fn holds(format: Format, element: &str) -> bool {
    match format {
        Format::Any => element.len() == 1,
        Format::Byte | Format::Bool => element == "u8",
        format => element == format.name(),
    }
}

#[test]
fn number_formats_are_those_of_the_signatures() {
    let functions = functions();
    let mut checked = 0;
    for kernel in KernelId::ALL {
        let Some(signature) = functions.get(kernel.name()) else { continue };
        let parameter = |argument: &FnArg| match argument {
            FnArg::Typed(argument) if !quote::quote!(#argument).to_string().starts_with("work ") => {
                element(&argument.ty)
            }
            _ => None,
        };
        let elements: Vec<String> = signature.inputs.iter().filter_map(parameter).collect();
        let formats = kernel.formats();
        let first = formats.operands.first().is_none_or(|&format| holds(format, &elements[0]));
        let result = elements.last().is_some_and(|last| holds(formats.result, last));
        assert!(first && result, "{kernel} takes {elements:?}, but the table says {formats:?}");
        checked += 1;
    }
    // Macros make the others.
    assert!(checked > 150, "{checked}");
}

/// A form computes the same: it differs in what its name says.
#[test]
fn forms_are_of_the_same_kind() {
    for &kernel in KernelId::ALL {
        for (_, form) in forms(kernel) {
            assert_eq!(
                (kernel.op(), kernel.formats().result),
                (form.op(), form.formats().result),
                "{kernel}, {form}"
            );
        }
    }
    let names: BTreeSet<&str> = KernelId::ALL.iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names.len(), KernelId::ALL.len());
}

fn forms(kernel: KernelId) -> impl Iterator<Item = (&'static str, KernelId)> {
    let forms = [
        ("float factors", kernel.floating()),
        ("packed weights", kernel.packed()),
        ("weights in bytes", kernel.in_bytes()),
        ("weights in nibbles", kernel.in_nibbles()),
        ("for Helium", kernel.in_helium()),
        ("in vectors", kernel.in_vectors()),
        ("reproducible", kernel.reproducible()),
        ("on a crew", kernel.on_crew()),
    ];
    forms.into_iter().filter_map(|(what, form)| Some((what, form?)))
}

const BEGIN: &str = "<!-- kernels: begin -->\n";
const END: &str = "<!-- kernels: end -->";

#[test]
fn the_page_is_fresh() {
    let path = root().join("docs/kernels.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has no place for the table");
    let (_, after) = rest.split_once(END).expect("the page has no end of the table");
    let fresh = format!("{before}{BEGIN}{}{END}{after}", tables());
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/kernels.md is not fresh (KILN_BLESS=1 writes it)");
    }
}

/// A table for each family.
fn tables() -> String {
    let families = KernelId::ALL.chunk_by(|a, b| a.op() == b.op()).map(|family| {
        let rows: String = family.iter().map(|&kernel| row(kernel)).collect();
        format!(
            "\n## {}\n\n| kernel | formats | processors | forms |\n|---|---|---|---|\n{rows}",
            title(family[0].op())
        )
    });
    families.collect::<String>() + "\n"
}

fn row(kernel: KernelId) -> String {
    let formats = kernel.formats();
    let operands: Vec<&str> = formats.operands.iter().map(|format| format.name()).collect();
    let forms: Vec<String> = forms(kernel).map(|(what, form)| format!("{what}: `{form}`")).collect();
    let formats = format!("{} → {}", operands.join(", "), formats.result.name());
    let processors = kernel.isa().title();
    format!("| `{kernel}` | {} | {processors} | {} |\n", formats.trim_start(), forms.join(", "))
}

fn title(op: Op) -> &'static str {
    match op {
        Op::Conv => "Convolutions",
        Op::Depthwise => "Depthwise convolutions",
        Op::Dense => "Dense layers",
        Op::MatMul => "Products of matrices",
        Op::Recurrent => "Recurrent cells",
        Op::Pool => "Pooling",
        Op::Reduce => "Reductions",
        Op::Normalise => "Normalisation",
        Op::Resize => "Images of another size",
        Op::Pairs => "Functions of two operands",
        Op::Function => "Functions of one operand",
        Op::Compare => "Comparisons",
        Op::Convert => "Changes of the number format",
        Op::Movement => "Movement",
        Op::Signal => "Audio",
        Op::Classical => "Classical models",
    }
}

/// The words of a name after the op: `<op>_<types>_<isa>[_<form>]`. The types are those of the operands, `x` between activations and weights where they differ, and the
/// result's where it is another one. Names of portable kernels have no ISA; kernels of any type have no types.
#[test]
fn names_follow_the_scheme() {
    let isas: Vec<String> = KernelId::ALL
        .iter()
        .filter(|kernel| kernel.isa() != Isa::Portable)
        .map(|kernel| lower(kernel.isa()))
        .collect();
    let isas: Vec<&str> = isas.iter().map(String::as_str).collect();
    for kernel in KernelId::ALL {
        let name = kernel.name();
        let words: Vec<&str> = name.split('_').collect();
        let id: String = words.iter().map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        assert_eq!(id, format!("{kernel:?}"), "the identifier of `{name}`");
        let isa = match kernel.isa() {
            Isa::Portable => None,
            isa => Some(lower(isa)),
        };
        let named: Vec<&str> = words.iter().copied().filter(|word| isas.contains(word)).collect();
        assert_eq!(named, isa.iter().map(String::as_str).collect::<Vec<_>>(), "the ISA of `{name}`");
        let formats = kernel.formats();
        let [first, ..] = formats.operands else { continue };
        if matches!(first, Format::Any | Format::Byte | Format::Bool) {
            continue;
        }
        let types = words.iter().position(|word| word.split('x').next() == Some(first.name()));
        let types = types.unwrap_or_else(|| panic!("`{name}` does not say that it takes {}", first.name()));
        let at = words.iter().position(|word| isas.contains(word));
        assert!(at.is_none_or(|at| types < at), "the types of `{name}` come before its ISA");
    }
}

/// A processor as names of kernels say it.
fn lower(isa: Isa) -> String {
    format!("{isa:?}").to_lowercase()
}
