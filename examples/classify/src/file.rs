//! The file of digits.

/// A handwritten digit.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit {
    /// Ink of each pixel, 0 to 16, row by row.
    pub ink: [u8; 64],
    /// The digit that was meant.
    pub label: u8,
}

/// The digits of a file; what is wrong with which line.
pub fn parse(text: &str) -> Result<Vec<Digit>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(index, line)| digit(line).map_err(|error| format!("line {}: {error}", index + 1))).collect()
}

fn digit(line: &str) -> Result<Digit, String> {
    let numbers: Vec<u8> = line
        .split(',')
        .map(|text| text.trim().parse().map_err(|_| format!("`{}` is no number from 0 to 255", text.trim())))
        .collect::<Result<_, _>>()?;
    let (ink, label) = match numbers.split_first_chunk() {
        Some((ink, &[label])) => (*ink, label),
        _ => return Err(format!("{} numbers, not 65: 64 pixels and the digit", numbers.len())),
    };
    if let Some(ink) = ink.iter().find(|&&ink| ink > 16) {
        return Err(format!("a pixel has {ink} of ink; the most is 16"));
    }
    if label > 9 {
        return Err(format!("{label} is no digit"));
    }
    Ok(Digit { ink, label })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ink: u8, label: u8) -> String {
        format!("{},{label}", vec![ink.to_string(); 64].join(","))
    }

    #[test]
    fn good_lines() {
        let digits = parse(&format!("{}\n\n{}\n", line(0, 3), line(16, 9))).unwrap();
        assert_eq!(digits, [Digit { ink: [0; 64], label: 3 }, Digit { ink: [16; 64], label: 9 }]);
    }

    #[test]
    fn bad_lines_are_named() {
        let cases = [
            ("1,2,3".to_owned(), "line 2: 3 numbers, not 65"),
            (line(17, 1), "line 2: a pixel has 17"),
            (line(1, 10), "line 2: 10 is no digit"),
            (line(1, 1).replacen('1', "x", 1), "line 2: `x` is no number"),
        ];
        for (text, message) in cases {
            let error = parse(&format!("{}\n{text}\n", line(0, 0))).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
