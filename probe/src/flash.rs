//! Erase, program, verify, reset.
use crate::error::{at, lost};
use crate::{Error, Image, Processor};
use probe_rs::flashing::{
    image_format, DownloadOptions, FlashError, FlashLoader, FlashProgress, ProgressEvent, ProgressOperation,
};
use probe_rs::{Session, Target};
use probe_rs_target::MemoryRegion;
use std::fs::File;

/// How far flashing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A step begins, of so many bytes if that is known.
    Begins(&'static str, Option<u64>),
    /// So many bytes more are done.
    Advances(&'static str, u64),
    /// The step is done.
    Ends(&'static str),
}

/// Names of the steps, in order.
const ERASE: &str = "erasing";
const PROGRAM: &str = "programming";
const VERIFY: &str = "verifying";
const RESET: &str = "resetting";

/// Writes the image to the chip: erases the sectors that it touches, programs them, reads everything back and compares. The chip stays
/// halted: [`reset`] or [`run`](crate::run) start the firmware.
///
/// `events` hears of every step, in order.
///
/// # Errors
/// [`Error::Flash`] with the step that failed; [`Error::Format`] where the chip's boot loader wants a format that the image cannot have.
pub fn flash(session: &mut Session, image: &Image, mut events: impl FnMut(Event)) -> Result<(), Error> {
    let loader = loader(session, image)?;
    let mut step = ERASE;
    let mut totals: [Option<u64>; 4] = [None; 4];
    let mut handle = |event| {
        if let Some(event) = translate(event, &mut totals) {
            if let Event::Begins(name, _) = event {
                step = name;
            }
            events(event);
        }
    };
    let mut options = DownloadOptions::default();
    options.verify = true;
    options.progress = FlashProgress::new(&mut handle);
    let result = loader.commit(session, options);
    result.map_err(|source| {
        let step = if matches!(source, FlashError::Verify) { VERIFY } else { step };
        Error::Flash { step, source: Box::new(source) }
    })
}

/// Resets the chip, and lets it run.
///
/// # Errors
/// [`Error::Lost`].
pub fn reset(session: &mut Session, mut events: impl FnMut(Event)) -> Result<(), Error> {
    events(Event::Begins(RESET, None));
    let mut core = session.core(0).map_err(lost(RESET))?;
    core.reset().map_err(lost(RESET))?;
    events(Event::Ends(RESET));
    Ok(())
}

/// The image, ready to be written: where flash has a boot loader with a format of its own, in that; otherwise as it is.
fn loader(session: &mut Session, image: &Image) -> Result<FlashLoader, Error> {
    let target = session.target();
    let mut loader = target.flash_loader();
    let format = target.default_format.as_deref().filter(|_| reaches_flash(target, image));
    if let Some(format) = format.and_then(image_format) {
        let mut file = File::open(&image.path).map_err(at(&image.path))?;
        let loaded = loader.load_image(session, &mut file, format.create_loader(None), None);
        loaded.map_err(|source| Error::Format { source: Box::new(source) })?;
        return Ok(loader);
    }
    if let Some(vectors) = image.vectors.or(Some(image.entry).filter(|_| image.processor == Processor::RiscV))
    {
        loader.set_vector_table_addr(vectors);
    }
    for segment in &image.segments {
        loader
            .add_data(segment.address, &segment.data)
            .map_err(|source| Error::Flash { step: PROGRAM, source: Box::new(source) })?;
    }
    Ok(loader)
}

/// Whether some of the image is in flash.
pub(crate) fn reaches_flash(target: &Target, image: &Image) -> bool {
    let mut regions = target.memory_map.iter().filter_map(MemoryRegion::as_nvm_region);
    regions.any(|region| image.segments.iter().any(|segment| region.range.contains(&segment.address)))
}

/// probe-rs tells the sizes of all steps first.
fn translate(event: ProgressEvent, totals: &mut [Option<u64>; 4]) -> Option<Event> {
    match event {
        ProgressEvent::AddProgressBar { operation, total } => {
            let sum = &mut totals[index(operation)];
            *sum = total.map(|total| total + sum.unwrap_or(0));
            None
        }
        ProgressEvent::Started(operation) => Some(Event::Begins(name(operation), totals[index(operation)])),
        ProgressEvent::Progress { operation, size, .. } => Some(Event::Advances(name(operation), size)),
        ProgressEvent::Finished(operation) => Some(Event::Ends(name(operation))),
        // The error follows.
        ProgressEvent::Failed(_) => None,
        ProgressEvent::FlashLayoutReady { .. } | ProgressEvent::DiagnosticMessage { .. } => None,
    }
}

fn name(operation: ProgressOperation) -> &'static str {
    match operation {
        ProgressOperation::Fill => "reading back",
        ProgressOperation::Erase => ERASE,
        ProgressOperation::Program => PROGRAM,
        ProgressOperation::Verify => VERIFY,
    }
}

fn index(operation: ProgressOperation) -> usize {
    match operation {
        ProgressOperation::Fill => 0,
        ProgressOperation::Erase => 1,
        ProgressOperation::Program => 2,
        ProgressOperation::Verify => 3,
    }
}
