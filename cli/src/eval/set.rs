//! Labelled sets: folders of pictures or recordings, tables, archives of arrays.

use crate::npz::{self, Array};
use anyhow::{bail, Context, Result};
use kiln_codegen::ir::Data;
use kiln_tools::cases::feed::picture::Picture;
use kiln_tools::cases::feed::sound::Sound;
use kiln_tools::cases::feed::{Raw, Tensor};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Samples with their labels.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) samples: Vec<Sample>,
    /// Files that are neither pictures nor recordings, and were left out.
    pub(super) left_out: usize,
    arrays: Vec<Array>,
}

/// One sample.
#[derive(Debug)]
pub(super) struct Sample {
    /// The file, or the place in one.
    pub(super) name: String,
    /// As the set has it.
    pub(super) label: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Picture(PathBuf),
    Sound(PathBuf),
    Numbers(Vec<f64>),
    /// Of all arrays of inputs the case with this index.
    Case(usize),
}

/// Where labels and inputs are in a file.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The column of a table with labels: its name, or its number from 1 on; the last one where there is none.
    pub label: Option<String>,
    /// The array with inputs.
    pub x: Option<String>,
    /// The array with labels.
    pub y: Option<String>,
}

impl Set {
    /// Reads a folder of folders, a table (`.csv`, `.tsv`) or an archive (`.npz`) for a model with so many inputs. Files in folders are read later.
    ///
    /// # Errors
    /// Says what is wrong where, and what would be right.
    pub(super) fn open(path: &Path, columns: &Columns, inputs: usize) -> Result<Set> {
        let extension = extension(path);
        let set = if path.is_dir() {
            folder(path)
        } else if !path.exists() {
            bail!("there is no file or folder `{}`", path.display())
        } else {
            match extension.as_str() {
                "npz" => archive(npz::read_rounded(path)?, columns, inputs),
                "csv" | "tsv" | "txt" => table(path, columns),
                _ => bail!("`{}` is no labelled set: that is a folder of folders with WAV or PNG files, a table (.csv) or a NumPy archive (.npz)", path.display()),
            }
        };
        let set = set.with_context(|| format!("`{}`", path.display()))?;
        if set.samples.is_empty() {
            bail!("`{}` has no sample", path.display());
        }
        Ok(set)
    }

    /// So many samples, spread evenly over the set, and their classes.
    pub(super) fn limit(&mut self, count: usize, classes: &mut Vec<usize>) {
        let all = self.samples.len();
        if count < all {
            let kept: BTreeSet<usize> = (0..count).map(|k| k * all / count).collect();
            let mut index = 0..;
            self.samples.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
            let mut index = 0..;
            classes.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
        }
    }

    /// What the set has of a sample.
    ///
    /// # Errors
    /// Where its file cannot be read.
    pub(super) fn read(&self, sample: &Sample) -> Result<Raw> {
        Ok(match &sample.content {
            Content::Picture(path) => Raw::Picture(Picture::read(opened(path)?)?),
            Content::Sound(path) => Raw::Sound(Sound::read(opened(path)?)?),
            Content::Numbers(numbers) => Raw::Numbers(numbers.clone()),
            Content::Case(case) => {
                Raw::Tensors(self.arrays.iter().map(|array| tensor(array, *case)).collect())
            }
        })
    }
}

fn opened(path: &Path) -> std::io::Result<BufReader<File>> {
    Ok(BufReader::new(File::open(path)?))
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn tensor(array: &Array, case: usize) -> Tensor {
    let size = array.data.bytes().len() / array.shape.first().copied().unwrap_or(1).max(1);
    Tensor { dtype: array.dtype, data: Data::new(&array.data.bytes()[case * size..(case + 1) * size]) }
}

/// What a folder has but hidden files, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn folder(path: &Path) -> Result<Set> {
    let mut samples = Vec::new();
    let mut others = BTreeSet::new();
    let mut left_out = 0;
    let labels: Vec<PathBuf> = entries(path)?.into_iter().filter(|entry| entry.is_dir()).collect();
    if labels.is_empty() {
        bail!("it has no folders\n    help: put the files of each class into a folder with the name of the class");
    }
    for label in &labels {
        for file in entries(label)? {
            let content = match extension(&file).as_str() {
                "png" => Content::Picture(file.clone()),
                "wav" => Content::Sound(file.clone()),
                other => {
                    others.insert(other.to_owned());
                    left_out += 1;
                    continue;
                }
            };
            samples.push(Sample {
                name: format!("{}/{}", name(label), name(&file)),
                label: name(label),
                content,
            });
        }
    }
    if samples.is_empty() {
        let found = others.into_iter().map(|other| format!(".{other}")).collect::<Vec<_>>().join(", ");
        let found =
            if found.is_empty() { "no files".into() } else { format!("files of other kinds: {found}") };
        bail!("its folders have neither WAV nor PNG files, but {found}\n    help: convert them, or save what the model takes in an archive: numpy.savez(\"set.npz\", x=…, y=…)");
    }
    let sounds = samples.iter().filter(|sample| matches!(sample.content, Content::Sound(_))).count();
    if sounds != 0 && sounds != samples.len() {
        bail!("it has {sounds} WAV and {} PNG files: a set has files of one kind", samples.len() - sounds);
    }
    Ok(Set { samples, left_out, arrays: Vec::new() })
}

fn table(path: &Path, columns: &Columns) -> Result<Set> {
    let text = std::fs::read_to_string(path)?;
    let first = text.lines().next().unwrap_or_default();
    let delimiter = [b',', b';', b'\t'].into_iter().find(|&c| first.as_bytes().contains(&c)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).delimiter(delimiter).trim(csv::Trim::All);
    let rows = reader.from_reader(text.trim_start_matches('\u{feff}').as_bytes()).into_records();
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let width = rows.first().map_or(0, csv::StringRecord::len);
    let last = width.checked_sub(1).filter(|&last| last > 0);
    let last = last.context("a line has values and a label, separated by commas")?;
    // Names are no numbers.
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    let head = rows.first().filter(|row| row.iter().take(last).any(|cell| !is_number(cell)));
    let named = |label: &str| head.and_then(|head| head.iter().position(|cell| cell == label));
    let numbered =
        |label: &str| label.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).filter(|&n| n < width);
    let label = match &columns.label {
        None => last,
        Some(label) => numbered(label).or_else(|| named(label)).with_context(|| match head {
            Some(head) => format!(
                "it has no column `{label}`: there are {}",
                head.iter().collect::<Vec<_>>().join(", ")
            ),
            None => format!(
                "it has no column `{label}`: its {width} columns have no names, only numbers from 1 on"
            ),
        })?,
    };
    let is_head =
        |row: &csv::StringRecord| row.iter().enumerate().any(|(k, cell)| k != label && !is_number(cell));
    let skipped = usize::from(rows.first().is_some_and(is_head));
    let column = |k: usize| match rows.first().filter(|_| skipped == 1).and_then(|head| head.get(k)) {
        Some(name) => format!("column {} (`{name}`)", k + 1),
        None => format!("column {}", k + 1),
    };
    let mut samples = Vec::new();
    for row in rows.iter().skip(skipped) {
        let line = row.position().map_or(0, csv::Position::line);
        let cells = row.iter().enumerate().filter(|(k, _)| *k != label);
        let number = |(k, cell): (usize, &str)| {
            cell.parse::<f64>().ok().filter(|number| number.is_finite()).with_context(|| {
                let help = if columns.label.is_none() && !is_number(cell) {
                    "\n    help: if that is the label, name its column: --label COLUMN"
                } else {
                    ""
                };
                format!("line {line}, {}: `{cell}` is no number{help}", column(k))
            })
        };
        let numbers = cells.map(number).collect::<Result<_>>()?;
        let cell = row.get(label).unwrap_or_default();
        if cell.is_empty() {
            bail!("line {line}, {}: the label is missing", column(label));
        }
        let label = cell.to_owned();
        samples.push(Sample { name: format!("line {line}"), label, content: Content::Numbers(numbers) });
    }
    Ok(Set { samples, left_out: 0, arrays: Vec::new() })
}

fn archive(mut arrays: BTreeMap<String, Array>, columns: &Columns, inputs: usize) -> Result<Set> {
    let found = arrays.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let help = |option: &str, name: &str| {
        format!("it has no array `{name}`; it has {found}\n    help: numpy.savez(file, x=…, y=…), or name the array: {option} NAME")
    };
    let y = columns.y.as_deref().unwrap_or("y");
    let labels = arrays.remove(y).with_context(|| help("--y", y))?;
    let x = columns.x.as_deref().unwrap_or("x");
    let arrays = match (inputs, &columns.x) {
        (1, _) => match arrays.remove(x) {
            Some(array) => vec![array],
            None if columns.x.is_none() => vec![arrays.remove("in_0").with_context(|| help("--x", x))?],
            None => bail!(help("--x", x)),
        },
        (_, _) => (0..inputs)
            .map(|k| {
                let name = format!("in_{k}");
                arrays.remove(&name).with_context(|| {
                    format!("the model has {inputs} inputs, in_0, in_1 …, and there is no array `{name}`; it has {found}")
                })
            })
            .collect::<Result<_>>()?,
    };
    let count = labels.shape.first().copied().unwrap_or(0);
    if let Some(other) = arrays.iter().find(|array| array.shape.first() != Some(&count)) {
        bail!("the first axis counts samples: `{y}` has {:?}, the inputs {:?}", labels.shape, other.shape);
    }
    let each = labels.data.bytes().len() / labels.dtype.size() / count.max(1);
    if count > 0 && each != 1 {
        bail!("`{y}` has {each} numbers for each sample: save one label of each, such as y.argmax(axis=1) of one-hot labels");
    }
    let labels = tensor_of(&labels).numbers();
    if let Some((case, label)) =
        labels.iter().enumerate().find(|(_, &label)| label.fract() != 0.0 || label < 0.0)
    {
        bail!("`{y}[{case}]` is {label}, which is no class: classes are numbers from 0 on, such as numpy.unique(labels, return_inverse=True)[1]");
    }
    let sample = |(case, label): (usize, &f64)| Sample {
        name: format!("{x}[{case}]"),
        label: label.to_string(),
        content: Content::Case(case),
    };
    let samples = labels.iter().enumerate().map(sample).collect();
    Ok(Set { samples, left_out: 0, arrays })
}

fn tensor_of(array: &Array) -> Tensor {
    Tensor { dtype: array.dtype, data: array.data.clone() }
}

/// The names of classes, and the class of each sample.
///
/// `names` are those that the user gave. Without them, labels that are numbers are those of classes, and names are in alphabetical order, as Keras and
/// torchvision order folders. `count`: how many classes the model tells apart.
///
/// # Errors
/// Where a label is none of the classes, or the classes cannot be known.
pub(super) fn classes(
    samples: &[Sample],
    names: Option<&[String]>,
    count: usize,
) -> Result<(Vec<String>, Vec<usize>)> {
    let number =
        |label: &str| label.parse::<f64>().ok().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as usize);
    if let Some(names) = names {
        if names.len() != count {
            bail!("--classes has {} names ({}), the model {count} classes", names.len(), names.join(", "));
        }
        let class = |sample: &Sample| {
            let by_name = names.iter().position(|name| *name == sample.label);
            by_name.or_else(|| number(&sample.label).filter(|&n| n < count)).with_context(|| {
                format!(
                    "{}: the label `{}` is none of the classes {}",
                    sample.name,
                    sample.label,
                    names.join(", ")
                )
            })
        };
        return Ok((names.to_vec(), samples.iter().map(class).collect::<Result<_>>()?));
    }
    if samples.iter().all(|sample| number(&sample.label).is_some()) {
        let class = |sample: &Sample| {
            let class = number(&sample.label).unwrap_or_default();
            match class < count {
                true => Ok(class),
                false => bail!(
                    "{}: the label {class} is not below {count}, the number of the model's classes",
                    sample.name
                ),
            }
        };
        let classes = samples.iter().map(class).collect::<Result<_>>()?;
        return Ok(((0..count).map(|class| class.to_string()).collect(), classes));
    }
    let found: Vec<String> =
        samples.iter().map(|s| s.label.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    if found.len() != count {
        let shown = found.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
        let more = if found.len() > 12 { ", …" } else { "" };
        bail!("the set has {} labels ({shown}{more}), the model {count} classes\n    help: name the classes in the order of the model's output: --classes NAME,NAME,…", found.len());
    }
    let class = |sample: &Sample| found.binary_search(&sample.label).unwrap_or_default();
    let classes = samples.iter().map(class).collect();
    Ok((found, classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file or folder of a test, gone afterwards.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            Place(std::env::temp_dir().join(format!("kiln-set-{}-{name}", std::process::id())))
        }

        fn table(name: &str, text: &str) -> Self {
            let place = Place::new(name);
            std::fs::write(&place.0, text).unwrap();
            place
        }

        fn folder(name: &str, files: &[&str]) -> Self {
            let place = Place::new(name);
            for file in files {
                let path = place.0.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            place
        }

        fn open(&self, label: Option<&str>) -> Result<Set> {
            Set::open(&self.0, &Columns { label: label.map(str::to_owned), ..Columns::default() }, 1)
        }

        fn error(&self, label: Option<&str>) -> String {
            format!("{:#}", self.open(label).unwrap_err())
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn rows(set: &Set) -> Vec<(String, Vec<f64>)> {
        let numbers = |sample: &Sample| match set.read(sample).unwrap() {
            Raw::Numbers(numbers) => numbers,
            _ => panic!(),
        };
        set.samples.iter().map(|sample| (sample.label.clone(), numbers(sample))).collect()
    }

    #[test]
    fn tables_with_and_without_names() {
        let expected = [("cat".to_owned(), vec![1.0, 2.5]), ("dog".to_owned(), vec![-3.0, 4e2])];
        for (text, label) in [
            ("1,2.5,cat\n-3,4e2,dog\n", None),
            ("a,b,species\n1,2.5,cat\n-3,4e2,dog\n", None),
            ("a,b,species\n1,2.5,cat\n-3,4e2,dog\n", Some("species")),
            ("species;a;b\ncat;1;2.5\ndog;-3;4e2\n", Some("species")),
            ("a\tspecies\tb\r\n1\tcat\t2.5\r\n-3\tdog\t4e2\r\n", Some("2")),
            ("cat,1,2.5\ndog,-3,4e2\n", Some("1")),
        ] {
            let place = Place::table("table.csv", text);
            assert_eq!(rows(&place.open(label).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn tables_that_are_wrong_say_where() {
        let error = |text: &str, label| Place::table("wrong.csv", text).error(label);
        let said = error("a,b,y\n1,2,0\n3,x,1\n", None);
        assert!(said.contains("line 3, column 2 (`b`): `x` is no number"), "{said}");
        let said = error("a,b,y\n1,2,0\n3,1\n", None);
        assert!(said.contains("line: 3") || said.contains("line 3"), "{said}");
        assert!(error("a,b,y\n1,2,0\n", Some("z")).contains("no column `z`: there are a, b, y"));
        assert!(error("1,2,0\n", Some("9")).contains("its 3 columns have no names"));
        assert!(error("5\n6\n", None).contains("separated by commas"));
        assert!(error("a,b,y\n", None).contains("has no sample"));
        let said = error("1,2,yes\n1,2,\n", None);
        assert!(said.contains("line 2, column 3: the label is missing"), "{said}");
        let said = error("a,b,y\n1,NaN,0\n", None);
        assert!(said.contains("line 2, column 2 (`b`): `NaN` is no number"), "{said}");
        let said = error("y,a,b\ncat,1,2\n", None);
        assert!(
            said.contains("`cat` is no number\n    help: if that is the label, name its column: --label"),
            "{said}"
        );
    }

    #[test]
    fn folders_are_labels() {
        let place =
            Place::folder("folder", &["yes/b.wav", "yes/A.WAV", "no/1.wav", "no/.hidden", "no/notes.txt"]);
        let set = place.open(None).unwrap();
        let names: Vec<&str> = set.samples.iter().map(|sample| sample.name.as_str()).collect();
        assert_eq!(names, ["no/1.wav", "yes/A.WAV", "yes/b.wav"]);
        assert_eq!((set.samples[2].label.as_str(), set.left_out), ("yes", 1));
    }

    #[test]
    fn folders_that_are_wrong_say_why() {
        let error = |files: &[&str]| Place::folder("bad", files).error(None);
        assert!(error(&["a.png"]).contains("has no folders\n    help: "));
        assert!(error(&["x/a.jpg", "y/b.flac"]).contains("but files of other kinds: .flac, .jpg"));
        assert!(error(&["x/a.png", "y/b.wav"]).contains("1 WAV and 1 PNG files"));
        let none = Set::open(Path::new("none/at/all"), &Columns::default(), 1).unwrap_err();
        assert!(none.to_string().contains("no file or folder"));
        assert!(Place::table("set.tflite", "").error(None).contains("is no labelled set"));
    }

    #[test]
    fn a_limit_is_spread_over_the_set() {
        let text: String = (0..10).map(|k| format!("{k},{}\n", k / 5)).collect();
        let mut set = Place::table("limit.csv", &text).open(None).unwrap();
        let mut classes: Vec<usize> = (10..20).collect();
        set.limit(4, &mut classes);
        let kept: Vec<f64> = rows(&set).into_iter().map(|(_, numbers)| numbers[0]).collect();
        assert_eq!((kept, &classes), (vec![0.0, 2.0, 5.0, 7.0], &vec![10, 12, 15, 17]));
        set.limit(9, &mut classes);
        assert_eq!((set.samples.len(), classes.len()), (4, 4));
    }

    fn samples(labels: &[&str]) -> Vec<Sample> {
        let sample =
            |label: &&str| Sample { name: "s".into(), label: (*label).into(), content: Content::Case(0) };
        labels.iter().map(sample).collect()
    }

    #[test]
    fn labels_become_classes() {
        let of = |labels: &[&str], names: Option<&[&str]>, count| {
            let names = names.map(|names| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
            classes(&samples(labels), names.as_deref(), count).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(of(&["2", "0", "1.0"], None, 4).unwrap().1, [2, 0, 1]);
        assert_eq!(of(&["10", "9"], None, 12).unwrap().1, [10, 9]);
        let (names, found) = of(&["no", "yes", "maybe"], None, 3).unwrap();
        assert_eq!((names.join(" "), found), ("maybe no yes".into(), vec![1, 2, 0]));
        assert_eq!(of(&["no", "yes"], Some(&["yes", "no", "noise"]), 3).unwrap().1, [1, 0]);
        assert_eq!(of(&["1", "0"], Some(&["yes", "no"]), 2).unwrap().1, [1, 0]);
        // A class without samples would move all names behind it.
        let said = of(&["no", "yes"], None, 3).unwrap_err();
        assert!(
            said.contains("2 labels (no, yes), the model 3 classes") && said.contains("--classes"),
            "{said}"
        );
        assert!(of(&["5"], None, 3).unwrap_err().contains("label 5 is not below 3"));
        assert!(of(&["ja"], Some(&["yes", "no"]), 2)
            .unwrap_err()
            .contains("`ja` is none of the classes yes, no"));
        assert!(of(&["yes"], Some(&["yes"]), 2).unwrap_err().contains("--classes has 1 names"));
    }
}
