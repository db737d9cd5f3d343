//! How options are written through each door: `ram = "20K"` in the macro, `.ram(20 * 1024)` in a build script, `--ram 20K` on the command line.
//!
//! Messages of the compiler name options as the macro does. [`Door::translate`] makes of them what the door in use understands.

use crate::options::Options;

/// A way to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `include_model!`.
    Macro,
    /// `kiln_codegen::Build`.
    Build,
    /// `cargo kiln`.
    CommandLine,
}

impl Door {
    /// An option and its value, which is as [`Options::set`] takes it.
    pub fn option(self, name: &str, value: &str) -> String {
        match self {
            Door::Macro => in_macro(name, value),
            Door::Build => in_build(name, value),
            Door::CommandLine => format!("{} {}", flag(name), in_shell(value)),
        }
    }

    /// A message that names options as the macro does, with options as they are written here.
    pub fn translate(self, message: &str) -> String {
        if self == Door::Macro {
            return message.to_owned();
        }
        let (mut out, mut rest) = (String::with_capacity(message.len()), message);
        while let Some(first) = rest.chars().next() {
            let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
            let behind = &rest[word.len()..];
            let taken = match Options::NAMES.contains(&word) {
                false => word.len().max(first.len_utf8()),
                true => match value(word, behind) {
                    Some((value, len)) => {
                        out += &self.option(word, &value);
                        rest = &behind[len..];
                        continue;
                    }
                    None if self == Door::CommandLine && is_named(&out) => {
                        out += &flag(word);
                        rest = behind;
                        continue;
                    }
                    None => word.len(),
                },
            };
            out += &rest[..taken];
            rest = &rest[taken..];
        }
        out
    }
}

/// The flag of an option.
fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// The options that are calls in the macro.
const CALLS: [&str; 3] = ["input_shape", "state", "custom_op"];

fn in_macro(name: &str, value: &str) -> String {
    match name {
        "input_shape" => format!("input_shape({})", shape_arguments(value)),
        "state" => format!("state({})", pair_arguments(value, |input| format!("{input:?}"))),
        "custom_op" => format!("custom_op({})", pair_arguments(value, str::to_owned)),
        _ if is_number(value) => format!("{name} = {value}"),
        _ => format!("{name} = {value:?}"),
    }
}

fn in_build(name: &str, value: &str) -> String {
    match name {
        "input_shape" if value.starts_with('[') => format!(".input_shape({value})"),
        "input_shape" => format!(".input_shape(({}))", shape_arguments(value)),
        "state" => format!(".state({})", pair_arguments(value, |input| format!("{input:?}"))),
        "custom_op" => format!(".custom_op({})?", pair_arguments(value, |path| format!("{path:?}"))),
        "optimize" | "weights" | "io" | "input" | "reference" | "qdq" | "float" | "events" => {
            format!(".{name}({}::{})", capitalised(name), capitalised(value))
        }
        "target" => format!(".target({value:?}.parse()?)"),
        "source" | "recompute" => format!(".{name}({value:?})?"),
        _ if is_number(value) => format!(".{name}({value})"),
        _ => match value.strip_suffix('K').filter(|count| is_number(count)) {
            Some(count) if name != "cycles" => format!(".{name}({count} * 1024)"),
            Some(count) => format!(".{name}({count}_000)"),
            None => format!(".{name}({value:?})"),
        },
    }
}

/// A value as an argument of a shell.
fn in_shell(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=+,@%…".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

/// `"audio", [1, 49, 40]` of `audio=[1, 49, 40]`.
fn shape_arguments(value: &str) -> String {
    match value.rsplit_once("=[") {
        Some((name, dims)) => format!("{name:?}, [{dims}"),
        None => value.to_owned(),
    }
}

/// `"left", right` of `left=right`.
fn pair_arguments(value: &str, right: impl Fn(&str) -> String) -> String {
    let (first, second) = value.rsplit_once('=').unwrap_or((value, ""));
    format!("{first:?}, {}", right(second))
}

fn is_number(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Whether what is written so far announces the name of an option.
fn is_named(before: &str) -> bool {
    before.trim_end_matches('`').ends_with("option ")
}

/// The value that stands behind the name of an option, as [`Options::set`] takes it, and how long it is.
fn value(name: &str, behind: &str) -> Option<(String, usize)> {
    if CALLS.contains(&name) {
        let arguments = &behind.strip_prefix('(')?;
        let end = arguments.find(')')?;
        return Some((of_arguments(&arguments[..end]), end + 2));
    }
    let text = behind.strip_prefix(" = ")?;
    let (value, len) = match text.strip_prefix('"') {
        Some(quoted) => {
            let end = quoted.find('"')?;
            (&quoted[..end], end + 2)
        }
        None => {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            (&text[..end], end)
        }
    };
    (!value.is_empty()).then(|| (value.to_owned(), " = ".len() + len))
}

/// `h_out=h_in` of `"h_out", "h_in"`; a shape alone stays as it is.
fn of_arguments(arguments: &str) -> String {
    let unquoted = |text: &str| text.trim().trim_matches('"').to_owned();
    match arguments.strip_prefix('"').and_then(|quoted| quoted.split_once("\",")) {
        Some((first, second)) => format!("{first}={}", unquoted(second)),
        None => arguments.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An option in the macro, in a build script, on the command line.
    const SPELLINGS: &[(&str, &str, &str)] = &[
        ("optimize = \"size\"", ".optimize(Optimize::Size)", "--optimize size"),
        ("ram = \"20K\"", ".ram(20 * 1024)", "--ram 20K"),
        ("ram = 20481", ".ram(20481)", "--ram 20481"),
        ("cycles = \"500K\"", ".cycles(500_000)", "--cycles 500K"),
        ("recompute = \"1.2\"", ".recompute(\"1.2\")?", "--recompute 1.2"),
        ("weights_section = \".flash2\"", ".weights_section(\".flash2\")", "--weights-section .flash2"),
        ("target = \"cortex-m4\"", ".target(\"cortex-m4\".parse()?)", "--target cortex-m4"),
        ("input_shape([1, ?, 3])", ".input_shape([1, ?, 3])", "--input-shape '[1, ?, 3]'"),
        ("input_shape(\"x\", [1, 9])", ".input_shape((\"x\", [1, 9]))", "--input-shape 'x=[1, 9]'"),
        ("state(\"h_out\", \"h_in\")", ".state(\"h_out\", \"h_in\")", "--state h_out=h_in"),
        ("custom_op(\"My\", a::f)", ".custom_op(\"My\", \"a::f\")?", "--custom-op My=a::f"),
        (
            "source = \"gray8 9x9, resize = area\"",
            ".source(\"gray8 9x9, resize = area\")?",
            "--source 'gray8 9x9, resize = area'",
        ),
    ];

    #[test]
    fn options_in_messages_are_those_of_the_door() {
        for (in_macro, in_build, on_command_line) in SPELLINGS {
            let message = |option: &str| format!("help: use `{option}`, or raise it; padding = \"valid\"");
            let of_macro = message(in_macro);
            assert_eq!(Door::Macro.translate(&of_macro), of_macro);
            assert_eq!(Door::Build.translate(&of_macro), message(in_build));
            assert_eq!(Door::CommandLine.translate(&of_macro), message(on_command_line));
        }
    }

    #[test]
    fn names_of_options_are_told_from_other_words() {
        let message = "option `qdq_drift`: the input `state` has state = zeros; the option input_shape";
        let expected = "option `--qdq-drift`: the input `state` has state = zeros; the option --input-shape";
        assert_eq!(Door::CommandLine.translate(message), expected);
        assert_eq!(Door::Build.translate(message), message);
        let message = "option `custom_op(\"My\", …)`: my_input = 3, fast-ram = 4 — große Zahl";
        assert!(Door::CommandLine
            .translate(message)
            .starts_with("option `--custom-op My=…`: my_input = 3, fast-ram = 4 — "));
    }
}
