//! From reset to the end of the firmware.
use crate::error::lost;
use crate::files::{Answer, Files};
use crate::flash::reaches_flash;
use crate::log::{Frames, Log};
use crate::{Error, Image, Processor};
use probe_rs::{BreakpointCause, Core, CoreStatus, HaltReason, Session, Target, VectorCatchCondition};
use probe_rs_target::MemoryRegion;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// How to run firmware.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder whose files the firmware may read and write by semihosting.
    pub files: Option<PathBuf>,
    /// The longest it may take.
    pub limit: Option<Duration>,
    /// A channel of RTT with bytes for a program, and where everything else goes if the firmware has it.
    pub apart: Option<Apart>,
}

/// A channel of RTT that is told apart from the others.
#[derive(Debug, Clone, Copy)]
pub struct Apart {
    /// Its name.
    pub channel: &'static str,
    /// Takes what is for a person: text, and decoded defmt frames.
    pub others: fn(&[u8]),
}

/// How long to wait where nothing happens: a call of the firmware is answered that much later at most.
const PAUSE: Duration = Duration::from_millis(2);
/// How long a chip takes to halt at most.
const HALT: Duration = Duration::from_millis(500);

/// Starts firmware that [`flash`](crate::flash) has written, lets it run until it ends, and returns its exit status. What it prints and logs goes
/// to `print`.
///
/// # Errors
/// [`Error::Stopped`] where the firmware runs into a fault or a breakpoint, [`Error::TimedOut`], [`Error::Lost`], [`Error::Log`].
pub fn run(
    session: &mut Session,
    image: &Image,
    options: &Options,
    mut print: impl FnMut(&[u8]),
) -> Result<u32, Error> {
    const STARTING: &str = "starting the firmware";
    let frames = Frames::of(image)?;
    let mut log = Log::new(image, frames.as_ref(), options.apart);
    let in_ram = is_in_ram(session.target(), image);
    let mut core = session.core(0).map_err(lost(STARTING))?;
    match in_ram {
        // Writing it there began with a reset. Not every chip's RAM outlasts another one.
        true => core.halt(HALT),
        false => core.reset_and_halt(HALT),
    }
    .map_err(lost(STARTING))?;
    log.clear(&mut core)?;
    // Not every chip can catch faults; a firmware that faults there is seen to take too long.
    let _ = core.enable_vector_catch(VectorCatchCondition::HardFault);
    drop(core);
    if in_ram {
        start_in_ram(session, image).map_err(lost(STARTING))?;
    }
    let mut core = session.core(0).map_err(lost(STARTING))?;
    core.run().map_err(lost(STARTING))?;
    serve(&mut core, image, options, &mut log, &mut print)
}

/// Where execution begins: at the vector table, or at the first instruction.
fn start(image: &Image) -> Option<u64> {
    match image.processor {
        Processor::Arm => image.vectors,
        Processor::RiscV => Some(image.entry),
    }
}

/// Whether the probe has written all of the image to RAM.
fn is_in_ram(target: &Target, image: &Image) -> bool {
    let mut regions = target.memory_map.iter().filter_map(MemoryRegion::as_ram_region);
    !reaches_flash(target, image)
        && start(image).is_some_and(|address| regions.any(|region| region.range.contains(&address)))
}

/// Sets up what a chip does by itself after reset where firmware is in flash.
fn start_in_ram(session: &mut Session, image: &Image) -> Result<(), probe_rs::Error> {
    match (image.processor, image.vectors) {
        (Processor::Arm, Some(vectors)) => session.prepare_running_on_ram(vectors, 0),
        (Processor::Arm, None) => Ok(()),
        (Processor::RiscV, _) => {
            let mut core = session.core(0)?;
            let pc = core.program_counter().id();
            core.write_core_reg(pc, image.entry)
        }
    }
}

/// Answers the firmware until it ends.
fn serve(
    core: &mut Core,
    image: &Image,
    options: &Options,
    log: &mut Log,
    print: &mut dyn FnMut(&[u8]),
) -> Result<u32, Error> {
    const RUNNING: &str = "the firmware was running";
    let mut files = Files::new(options.files.clone());
    let started = Instant::now();
    loop {
        let logged = log.poll(core, print)?;
        match core.status().map_err(lost(RUNNING))? {
            CoreStatus::Halted(HaltReason::Breakpoint(BreakpointCause::Semihosting(call))) => {
                match files.answer(call, core).map_err(lost(RUNNING))? {
                    Answer::Resume => {}
                    Answer::Print(bytes) => match log.others() {
                        Some(others) => others(&bytes),
                        None => print(&bytes),
                    },
                    Answer::Exit(status) => {
                        while log.poll(core, print)? {}
                        return Ok(status);
                    }
                }
                core.run().map_err(lost(RUNNING))?;
            }
            CoreStatus::Halted(reason) => {
                while log.poll(core, print)? {}
                return Err(stopped(core, image, why(reason)));
            }
            CoreStatus::LockedUp => {
                return Err(stopped(core, image, "a fault in the handler of a fault".to_owned()))
            }
            CoreStatus::Running | CoreStatus::Sleeping | CoreStatus::Unknown if !logged => {
                thread::sleep(PAUSE)
            }
            CoreStatus::Running | CoreStatus::Sleeping | CoreStatus::Unknown => {}
        }
        if let Some(limit) = options.limit.filter(|limit| started.elapsed() > *limit) {
            // A chip that does not halt goes on running, which does no harm.
            let _ = core.halt(HALT);
            return Err(Error::TimedOut { seconds: limit.as_secs() });
        }
    }
}

fn why(reason: HaltReason) -> String {
    match reason {
        HaltReason::Breakpoint(_) => "at a breakpoint instruction".to_owned(),
        HaltReason::Exception => "hard fault".to_owned(),
        HaltReason::External | HaltReason::Request => "another debugger halted it".to_owned(),
        other => format!("{other:?}"),
    }
}

fn stopped(core: &mut Core, image: &Image, why: String) -> Error {
    let pc = core.program_counter().id();
    match core.read_core_reg::<u64>(pc) {
        Ok(address) => Error::Stopped { why, place: image.place(address) },
        Err(error) => lost("it had stopped")(error),
    }
}
