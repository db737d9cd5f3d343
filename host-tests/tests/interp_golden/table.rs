//! Tables as comma-separated values, the first row naming the columns.

use std::collections::HashMap;
use std::path::Path;

/// The rows by column name. A field in quotes may hold commas and line breaks; doubled quotes stand for one.
pub(crate) fn read(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut rows = fields(&text).into_iter();
    let columns = rows.next().unwrap_or_default();
    rows.map(|row| columns.iter().cloned().zip(row).collect()).collect()
}

fn fields(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

#[test]
fn quotes_hold_commas_and_quotes() {
    let rows = fields("a,b\n\"1,2\",\"say \"\"x\"\"\"\r\n3,\n");
    assert_eq!(rows, [["a", "b"], ["1,2", "say \"x\""], ["3", ""]]);
}
