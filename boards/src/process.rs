//! Running other programs: output captured, time limited.
use crate::Error;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Cargo, unimpressed by the settings of a Cargo that may be running this.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in
        ["RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER"]
    {
        cargo.env_remove(name);
    }
    // Code compiled incrementally is other code, with other figures.
    cargo.env("CARGO_INCREMENTAL", "0");
    cargo
}

/// How a program ended, and what it printed (standard output, then standard error).
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

impl Ended {
    /// What it printed; a status other than success is an error.
    pub(crate) fn succeed(self, what: &str) -> Result<String, Error> {
        let Ended { status, output } = self;
        match status.success() {
            true => Ok(output),
            false => Err(Error::Failed { what: what.to_owned(), status, output }),
        }
    }
}

/// Runs `command` without input and waits for it, at most for `limit`.
pub(crate) fn run(command: &mut Command, what: &str, limit: Duration) -> Result<Ended, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |source| Error::Start { program: program.clone(), source };
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(start)?;
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = wait(&mut child, limit).map_err(start)?;
    let output = finish(out) + &finish(err);
    match status {
        Some(status) => Ok(Ended { status, output }),
        None => Err(Error::TimedOut { what: what.to_owned(), seconds: limit.as_secs(), output }),
    }
}

/// Like [`run`], and a status other than success is an error.
pub(crate) fn succeed(command: &mut Command, what: &str, limit: Duration) -> Result<String, Error> {
    run(command, what, limit)?.succeed(what)
}

/// `None` when the limit passed and the program was ended.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    pipe.map(|mut pipe| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What came before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    })
}

fn finish(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let error =
            run(Command::new("sleep").arg("60"), "sleeping", Duration::from_millis(50)).err().unwrap();
        assert!(matches!(error, Error::TimedOut { .. }));
    }

    #[test]
    fn output_and_failure_are_reported() {
        let error = succeed(
            Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]),
            "it",
            Duration::from_secs(9),
        );
        let Err(Error::Failed { status, output, .. }) = error else { panic!("did not fail") };
        assert_eq!((status.code(), output.as_str()), (Some(3), "out\nerr\n"));
    }
}
