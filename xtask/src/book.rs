//! The pages as a book: those that the table of `docs/README.md` lists, the examples, and what is inside. mdBook makes it; links between pages lead to pages of the book.
use crate::step::{cargo, root, run, say, Failure};
use crate::studio;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) const HELP: &str = "  book                     the guides as a book, with the documentation of the crates and the studio, in target/book/html; installs mdBook
";

/// Versions of mdBook that have been tried.
const MDBOOK: &str = "^0.5";

/// Crates whose documentation is in the book.
const CRATES: [&str; 4] = ["kiln-nn", "kiln-nn-codegen", "kiln-nn-test", "kiln-nn-macros"];

/// Parts behind the guides: title and pages in the checkout.
const INSIDE: [(&str, &str); 12] = [
    ("Architecture", "ARCHITECTURE.md"),
    ("The graph", "docs/internals/graph.md"),
    ("Schedules", "docs/internals/schedule.md"),
    ("Kernels", "docs/internals/kernels.md"),
    ("Requantisation", "docs/internals/requantisation.md"),
    ("Processors", "docs/internals/processors.md"),
    ("The runtime around a model", "docs/internals/runtime.md"),
    ("Boards, projects, reports", "docs/internals/tools.md"),
    ("Tests", "docs/internals/tests.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Releasing", "docs/internals/releasing.md"),
    ("Changelog", "CHANGELOG.md"),
];

/// Writes the book.
pub(crate) fn build() -> Result<(), Failure> {
    let root = root();
    let folder = root.join("target/book");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let book = Book::read(&root)?;
    book.write(&folder)?;
    let mdbook = mdbook(&root)?;
    run("book", Command::new(mdbook).arg("build").arg(&folder))?;
    let mut doc = cargo(&root, &["doc", "--no-deps", "--features", "kiln-nn/defmt,kiln-nn/heapless"]);
    run("documentation of the crates", doc.args(CRATES.iter().flat_map(|name| ["-p", name])))?;
    copy(&root.join("target/doc"), &folder.join("html/api"))?;
    studio::build(&folder.join("html/studio"))?;
    let pages = check_links(&folder.join("html"), &folder.join("html/api"))?;
    say(&format!("{pages} pages, whose links all lead somewhere: target/book/html/index.html"));
    Ok(())
}

/// The program that makes books, in the target folder.
fn mdbook(root: &Path) -> Result<PathBuf, Failure> {
    let tools = root.join("target/mdbook");
    let program = tools.join("bin/mdbook");
    let is_there = Command::new(&program).arg("--version").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        // Neither a server nor a watcher: they are most of what it depends on.
        let mut install = cargo(root, &["install", "mdbook", "--locked", "--no-default-features"]);
        install.args(["--features", "search", "--version", MDBOOK, "--root"]).arg(&tools);
        run("installing mdBook", &mut install)?;
    }
    Ok(program)
}

/// Fails if the table of guides lacks a page, or a page links to what is not there.
pub(crate) fn check() -> Result<(), Failure> {
    let book = Book::read(&root())?;
    for page in book.places.keys() {
        book.text(page)?;
    }
    say(&format!("{} pages of the book are listed, and link to what is there", book.places.len()));
    Ok(())
}

/// Pages of the checkout, and where they are in the book.
struct Book {
    root: PathBuf,
    /// The table of contents: titles of parts, and titles and paths of pages.
    parts: Vec<(String, Vec<(String, PathBuf)>)>,
    /// Paths in the book by paths in the checkout.
    places: BTreeMap<PathBuf, PathBuf>,
}

impl Book {
    fn read(root: &Path) -> Result<Book, Failure> {
        let mut book = Book { root: root.to_owned(), parts: Vec::new(), places: BTreeMap::new() };
        book.add("", "Kiln", "README.md", "index.md");
        let guides = fs::read_to_string(root.join("docs/README.md"))?;
        let mut part = String::new();
        for line in guides.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                part = title.to_owned();
            }
            let row = line
                .strip_prefix("| [")
                .and_then(|row| row.split_once("]("))
                .and_then(|(title, rest)| Some((title, rest.split_once(')')?.0)));
            if let Some((title, page)) = row {
                book.add(&part, title, &format!("docs/{page}"), page);
            }
        }
        let mut examples: Vec<_> = fs::read_dir(root.join("examples"))?.flatten().map(|e| e.path()).collect();
        examples.sort();
        for example in examples.iter().filter(|example| example.join("README.md").exists()) {
            let name = example.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let page = format!("examples/{name}/README.md");
            let text = fs::read_to_string(root.join(&page))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&name);
            book.add("Examples", title, &page, &format!("examples/{name}.md"));
        }
        for (title, page) in INSIDE {
            book.add("Inside", title, page, &page.trim_start_matches("docs/").to_lowercase());
        }
        for entry in fs::read_dir(root.join("docs"))?.flatten() {
            let name = PathBuf::from("docs").join(entry.file_name());
            let is_page = name.extension().is_some_and(|extension| extension == "md");
            if is_page && !name.ends_with("README.md") && !book.places.contains_key(&name) {
                return Err(format!("docs/README.md does not list {}", name.display()).into());
            }
        }
        Ok(book)
    }

    fn add(&mut self, part: &str, title: &str, page: &str, place: &str) {
        if self.parts.last().is_none_or(|(last, _)| last != part) {
            self.parts.push((part.to_owned(), Vec::new()));
        }
        if let Some((_, pages)) = self.parts.last_mut() {
            pages.push((title.to_owned(), place.into()));
        }
        self.places.insert(page.into(), place.into());
    }

    /// What mdBook reads.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let source = folder.join("src");
        for (page, place) in &self.places {
            let text = self.text(page)?;
            let path = source.join(place);
            fs::create_dir_all(path.parent().unwrap_or(&source))?;
            fs::write(path, text)?;
        }
        for entry in fs::read_dir(self.root.join("docs"))?.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "svg") {
                fs::copy(entry.path(), source.join(entry.file_name()))?;
            }
        }
        let mut summary = String::from("# Summary\n");
        for (part, pages) in &self.parts {
            if !part.is_empty() {
                summary += &format!("\n# {part}\n\n");
            }
            for (title, place) in pages {
                let item = if part.is_empty() { "\n" } else { "- " };
                summary += &format!("{item}[{title}]({})\n", place.display());
            }
        }
        summary += "\n---\n\n[The studio](studio.md)\n[The crates](crates.md)\n";
        fs::write(source.join("SUMMARY.md"), summary)?;
        fs::write(source.join("crates.md"), crates())?;
        fs::write(source.join("studio.md"), STUDIO)?;
        fs::write(folder.join("book.toml"), CONFIGURATION)?;
        Ok(())
    }

    /// The text of a page, with links to where pages are in the book. Other files are named, not linked.
    fn text(&self, page: &Path) -> Result<String, Failure> {
        let text = fs::read_to_string(self.root.join(page))?;
        let mut result = String::new();
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            match is_code {
                true => result += line,
                false => result += &self.with_links_of_line(page, line)?,
            }
            result.push('\n');
        }
        Ok(result)
    }

    fn with_links_of_line(&self, page: &Path, line: &str) -> Result<String, Failure> {
        let (mut result, mut rest) = (String::new(), line);
        while let Some((before, (target, behind))) =
            rest.split_once("](").and_then(|(before, link)| Some((before, link.split_once(')')?)))
        {
            rest = behind;
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let is_code = (result.matches('`').count() + before.matches('`').count()) % 2 == 1;
            if is_code || file.is_empty() || target.contains("://") {
                result += &format!("{before}]({target})");
                continue;
            }
            let linked = normal(&page.parent().unwrap_or(Path::new("")).join(file));
            if !self.root.join(&linked).exists() {
                return Err(format!("{}: there is no {target}", page.display()).into());
            }
            let from = self.places.get(page).and_then(|place| place.parent()).unwrap_or(Path::new(""));
            let up = "../".repeat(from.components().count());
            let place = self.places.get(&linked).or_else(|| self.places.get(&linked.join("README.md")));
            let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
            match place {
                Some(place) => result += &format!("{before}]({up}{}{fragment})", place.display()),
                None if file.ends_with(".svg") => result += &format!("{before}]({target})"),
                None => {
                    // Only the text of the link is left.
                    let (outside, text) = before.rsplit_once('[').unwrap_or(("", before));
                    result += &format!("{outside}{text}");
                }
            }
        }
        Ok(result + rest)
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

const CONFIGURATION: &str = r#"[book]
title = "Kiln"
description = "Neural networks as no_std Rust for microcontrollers"
language = "en"

[build]
build-dir = "html"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
smart-punctuation = false
"#;

/// The page that leads to the studio.
const STUDIO: &str = "# The studio

The compiler in the browser: [open the studio](studio/index.html), and drop a model on it. It shows what the model costs, and runs it on your inputs. Nothing leaves your machine.
";

/// The page that leads to the documentation of the crates.
fn crates() -> String {
    let row = |name: &&str| {
        let module = name.replace("kiln-nn", "kiln").replace('-', "_");
        format!("| [`{name}`](api/{module}/index.html) |\n")
    };
    let rows: String = CRATES.iter().map(row).collect();
    format!("# The crates\n\nDocumentation of what programs use:\n\n| crate |\n|---|\n{rows}")
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target)?,
            false => {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

/// Fails if a link of a page leads nowhere; returns the number of pages. Those of rustdoc are its own.
fn check_links(folder: &Path, except: &Path) -> Result<usize, Failure> {
    let mut pages = 0;
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() && path != except {
            pages += check_links(&path, except)?;
        }
        if path.extension().is_none_or(|extension| extension != "html") || path.ends_with("toc.html") {
            continue;
        }
        pages += 1;
        let text = fs::read_to_string(&path)?;
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let file = link.split(['#', '?']).next().unwrap_or_default();
            let is_elsewhere = link.contains(':') || file.is_empty();
            if !is_elsewhere && !folder.join(file).exists() {
                return Err(format!("{}: {link} leads nowhere", path.display()).into());
            }
        }
    }
    Ok(pages)
}
