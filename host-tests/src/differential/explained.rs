//! Differences from a runtime that are known, with their reasons: `differential/explained.txt`.

const FILE: &str = include_str!("../../differential/explained.txt");

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The signature of an operator and the runtime; `*` stands for anything.
    pub pattern: String,
    /// Why it differs.
    pub reason: String,
    /// The page that says so.
    pub page: String,
}

impl Rule {
    /// All of the file.
    ///
    /// # Errors
    /// The line that is none.
    pub fn all() -> Result<Vec<Rule>, String> {
        Rule::parse(FILE)
    }

    fn parse(text: &str) -> Result<Vec<Rule>, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rule = |line: &str| match line.split('|').map(str::trim).collect::<Vec<_>>()[..] {
            [pattern, reason, page] => {
                Ok(Rule { pattern: pattern.into(), reason: reason.into(), page: page.into() })
            }
            _ => Err(format!("explained.txt: `{line}` is not PATTERN | reason | page")),
        };
        lines.map(rule).collect()
    }

    /// Whether it says something of an operator and a runtime.
    pub fn fits(&self, signature: &str, runtime: &str) -> bool {
        matches(&self.pattern, &format!("{signature} @{runtime}"))
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else { return false };
            (0..=rest.len()).filter(|&k| rest.is_char_boundary(k)).any(|k| matches(after, &rest[k..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_rule_has_a_page_that_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let rules = Rule::all().unwrap();
        assert!(!rules.is_empty());
        for rule in rules {
            assert!(root.join(&rule.page).exists(), "{rule:?}");
            let (types, runtime) = rule.pattern.split_once(" @").unwrap();
            let operator = types.split(' ').next().unwrap();
            // An operator, or those whose names end alike, with something of its types; and one runtime.
            let is_narrow = operator.trim_matches('*').len() > 2
                && types.trim_matches('*').len() > operator.len() + 3
                && !runtime.contains('*');
            assert!(is_narrow, "too wide: {rule:?}");
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches("RELU6 *int* @tflm", "RELU6 uint8 -> uint8 @tflm"));
        assert!(!matches("RELU6 *int* @tflm", "RELU6 float32 -> float32 @tflm"));
        assert!(!matches("RELU6 *int* @tflm", "RELU6 int8 -> int8 @litert"));
        assert!(Rule::parse("a | b").is_err());
    }
}
