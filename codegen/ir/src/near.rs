//! What somebody may have meant who wrote a name that there is not.

/// The names that are near to what was written, the nearest first: those that contain it, and those with few letters that differ.
pub fn near<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let written = written.to_lowercase();
    // One letter of three, and at least one.
    let most = (written.chars().count() / 3).max(1);
    let rank = |name: &str| {
        let name = name.to_lowercase();
        let contains = written.len() > 2 && name.contains(&written);
        Some(distance(&written, &name)).filter(|&distance| distance <= most || contains)
    };
    let mut found: Vec<(usize, &str)> =
        names.into_iter().filter_map(|name| Some((rank(name)?, name))).collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

/// How many letters have to be added, removed or replaced to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut left = i + 1;
        let above = std::mem::replace(&mut row, vec![left]);
        for ((to, diagonal), up) in b.iter().zip(&above).zip(above.iter().skip(1)) {
            left = (diagonal + usize::from(from != *to)).min(left + 1).min(up + 1);
            row.push(left);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_nearly_the_same_and_words_that_hold_it() {
        let names = ["optimize", "qdq", "raspberry-pi-pico-2", "raspberry-pi-pico"];
        assert_eq!(near("optmise", names), ["optimize"]);
        assert_eq!(near("Pico", names), ["raspberry-pi-pico", "raspberry-pi-pico-2"]);
        assert_eq!(near("speed", names), [""; 0]);
        assert_eq!((distance("", "abc"), distance("kitten", "sitting")), (3, 3));
    }
}
