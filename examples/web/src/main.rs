//! `serve [PORT]`: compiles the module and serves the page on this machine, to this machine only.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
const TARGET: &str = "wasm32-unknown-unknown";

/// What is served: name, type, and file. Nothing else is.
const FILES: [(&str, &str, &str); 8] = [
    ("/", "text/html; charset=utf-8", "page/index.html"),
    ("/page.js", "text/javascript", "page/page.js"),
    ("/digits.js", "text/javascript", "page/digits.js"),
    ("/selftest.js", "text/javascript", "page/selftest.js"),
    ("/digits.wasm", "application/wasm", ""),
    ("/images.bin", "application/octet-stream", "../digits/data/images.bin"),
    ("/labels.bin", "application/octet-stream", "../digits/data/labels.bin"),
    ("/tflm.txt", "text/plain", "../digits/data/tflm.txt"),
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = match std::env::args().nth(1) {
        Some(port) => port.parse().map_err(|_| "usage: serve [PORT]")?,
        None => 8017,
    };
    let module = build()?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    println!("http://{}/", listener.local_addr()?);
    for stream in listener.incoming() {
        let module = module.clone();
        // A browser opens connections that it may need later: none may keep others waiting.
        std::thread::spawn(move || stream.and_then(|stream| answer(stream, &module)));
    }
    Ok(())
}

/// Compiles the module, and returns its path.
fn build() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(FOLDER).args(["build", "--release", "--lib", "--target", TARGET]);
    if !cargo.status()?.success() {
        return Err(format!("the module does not compile; `rustup target add {TARGET}` may help").into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(Path::new(FOLDER).join(target).join(TARGET).join("release/digits_web.wasm"))
}

/// Answers one request.
fn answer(mut stream: TcpStream, module: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let request = read_head(&mut stream)?;
    let path = request.strip_prefix("GET ").and_then(|rest| rest.split([' ', '?']).next());
    let found = path.and_then(|path| FILES.iter().find(|(name, _, _)| *name == path));
    let (status, kind, body) = match found {
        Some((_, kind, "")) => ("200 OK", *kind, std::fs::read(module)?),
        Some((_, kind, file)) => ("200 OK", *kind, std::fs::read(Path::new(FOLDER).join(file))?),
        None => ("404 Not Found", "text/plain", b"there is no such file\n".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

/// The head of a request, or as much of it as is looked at.
fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < 16384 && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => break,
            count => head.extend_from_slice(&piece[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
