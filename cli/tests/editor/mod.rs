//! An editor without a window: asks rust-analyzer, as editors do, over the language server protocol.

use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

/// How long rust-analyzer may be silent: Cargo may be waiting for builds of other tests.
const PATIENCE: Duration = Duration::from_secs(600);

/// rust-analyzer refuses to answer of code that has just changed, and is to be asked again (`ContentModified`).
const ASK_AGAIN: i64 = -32801;

/// An editor with the files of a crate open.
pub(crate) struct Editor {
    server: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    folder: PathBuf,
    /// Texts by path in the crate.
    files: BTreeMap<String, String>,
    requests: u64,
    changes: u64,
    /// What Cargo found, by URI.
    found: BTreeMap<String, Vec<Value>>,
    /// Whether rust-analyzer has read everything.
    settled: bool,
    /// How often Cargo has checked the crate.
    checks: u32,
}

impl Editor {
    /// Starts the server that the command says, in the folder of a crate, and opens files of it. Waits until the server has read the crate, and Cargo has checked
    /// it.
    pub(crate) fn open(mut server: Command, folder: &Path, files: &[&str]) -> Editor {
        server.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), listen(server.stdout.take().unwrap()));
        let folder = folder.canonicalize().unwrap();
        let text = |path: &&str| ((*path).to_owned(), std::fs::read_to_string(folder.join(path)).unwrap());
        let files = files.iter().map(text).collect();
        let (found, settled, checks) = (BTreeMap::new(), false, 0);
        let mut editor =
            Editor { server, to, from, folder, files, requests: 0, changes: 0, found, settled, checks };
        editor.greet();
        for (path, text) in editor.files.clone() {
            let document =
                json!({ "uri": editor.uri(&path), "languageId": "rust", "version": 0, "text": text });
            editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        }
        editor.wait(1);
        editor
    }

    /// Waits until Cargo has checked the crate so often, and the server has read what it had to.
    fn wait(&mut self, checks: u32) {
        while !self.settled || self.checks < checks {
            let message = self.next();
            self.notice(&message);
        }
    }

    fn greet(&mut self) {
        let uri = format!("file://{}", self.folder.display());
        let answer = self.ask(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": uri,
                "workspaceFolders": [{ "uri": uri, "name": "crate" }],
                "capabilities": {
                    // Problems that it finds itself are asked for; it tells about those that Cargo finds.
                    "textDocument": { "diagnostic": {}, "hover": { "contentFormat": ["markdown"] } },
                    "window": { "workDoneProgress": true },
                    "experimental": { "serverStatusNotification": true },
                },
                // All else is as users have it who have set nothing. Indexing beforehand changes no answer.
                "initializationOptions": {
                    "check": { "command": "clippy" },
                    "cachePriming": { "enable": false },
                },
            }),
        );
        assert!(answer["capabilities"].is_object(), "{answer}");
        self.tell("initialized", json!({}));
    }

    /// What is wrong in the crate, as the editor would underline it: errors and warnings, of rust-analyzer in the open files and of Cargo in all.
    pub(crate) fn problems(&mut self) -> Vec<String> {
        let paths: Vec<String> = self.files.keys().cloned().collect();
        let mut all = Vec::new();
        for path in paths {
            let document = json!({ "textDocument": { "uri": self.uri(&path) } });
            let answer = self.ask("textDocument/diagnostic", document);
            all.extend(answer["items"].as_array().unwrap_or_else(|| panic!("{path}: {answer}")).clone());
        }
        all.extend(self.found.values().flatten().cloned());
        const WARNING: u64 = 2;
        let serious = |problem: &&Value| problem["severity"].as_u64().unwrap() <= WARNING;
        all.iter().filter(serious).map(|problem| problem["message"].to_string()).collect()
    }

    /// What the editor offers behind a text, of which only the first in the file counts.
    pub(crate) fn completions(&mut self, path: &str, behind: &str) -> Vec<String> {
        let place = self.place(path, behind);
        let answer = self.ask("textDocument/completion", place);
        let items = answer["items"].as_array().or(answer.as_array()).unwrap_or_else(|| panic!("{answer}"));
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    /// What the editor shows of the name that a text ends with, of which only the first in the file counts.
    pub(crate) fn docs(&mut self, path: &str, behind: &str) -> String {
        let place = self.place(path, behind);
        let answer = self.ask("textDocument/hover", place);
        answer["contents"]["value"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Writes into an open file, without saving it.
    pub(crate) fn replace(&mut self, path: &str, old: &str, new: &str) {
        let text = self.files[path].replacen(old, new, 1);
        self.changes += 1;
        let document = json!({ "uri": self.uri(path), "version": self.changes });
        let changes = json!([{ "text": text }]);
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        self.files.insert(path.to_owned(), text);
    }

    /// Saves an open file, and waits until Cargo has checked it.
    pub(crate) fn save(&mut self, path: &str) {
        std::fs::write(self.folder.join(path), &self.files[path]).unwrap();
        let document = json!({ "textDocument": { "uri": self.uri(path) } });
        self.tell("textDocument/didSave", document);
        self.wait(self.checks + 1);
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}", self.folder.join(path).display())
    }

    /// The document, and the place behind a text in it.
    fn place(&self, path: &str, behind: &str) -> Value {
        let text = &self.files[path];
        let at = text.find(behind).unwrap_or_else(|| panic!("no {behind:?} in {text}")) + behind.len();
        let (line, start) =
            (text[..at].matches('\n').count(), text[..at].rfind('\n').map_or(0, |end| end + 1));
        let position = json!({ "line": line, "character": text[start..at].encode_utf16().count() });
        json!({ "textDocument": { "uri": self.uri(path) }, "position": position })
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        loop {
            self.requests += 1;
            let id = self.requests;
            self.send(json!({ "id": id, "method": method, "params": parameters }));
            let answer = loop {
                let message = self.next();
                if message["id"] == id && message.get("method").is_none() {
                    break message;
                }
                self.notice(&message);
            };
            match answer.get("error") {
                None => return answer["result"].clone(),
                Some(error) if error["code"] == ASK_AGAIN => {}
                Some(error) => panic!("{method}: {error}"),
            }
        }
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(json!({ "method": method, "params": parameters }));
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn next(&mut self) -> Value {
        self.from.recv_timeout(PATIENCE).expect("rust-analyzer is silent, or has ended")
    }

    /// Takes note of what the server tells, and answers what it asks.
    fn notice(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "textDocument/publishDiagnostics" => {
                let problems = parameters["diagnostics"].as_array().unwrap().clone();
                self.found.insert(parameters["uri"].as_str().unwrap().to_owned(), problems);
            }
            "experimental/serverStatus" => {
                assert_eq!(parameters["health"], "ok", "{parameters}");
                self.settled = parameters["quiescent"] == true;
            }
            "$/progress" => {
                let check = parameters["token"].as_str().is_some_and(|token| token.contains("flycheck"));
                self.checks += u32::from(check && parameters["value"]["kind"] == "end");
            }
            // It wants to know settings: there are none.
            "workspace/configuration" => {
                let none = vec![Value::Null; parameters["items"].as_array().unwrap().len()];
                self.send(json!({ "id": message["id"], "result": none }));
            }
            _ if message.get("id").is_some() => self.send(json!({ "id": message["id"], "result": null })),
            _ => {}
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It is of no more use, however it ends.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The messages of a server.
fn listen(output: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        while let Some(message) = read(&mut output) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A message: headers, of which the length is one, an empty line, JSON. `None` at the end.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
