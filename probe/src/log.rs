//! What firmware logs over RTT: text, and defmt frames where the ELF file says how to read them.
use crate::error::{at, lost};
use crate::run::Apart;
use crate::{Error, Image};
use defmt_decoder::{DecodeError, Locations, StreamDecoder, Table};
use probe_rs::rtt::{ChannelMode, Error as RttError, Rtt, ScanRegion};
use probe_rs::Core;
use std::io::Read;

/// The channel that defmt's logger for RTT writes to.
const DEFMT_CHANNEL: &str = "defmt";

/// What is needed to read an image's defmt frames.
pub(crate) struct Frames {
    table: Table,
    locations: Option<Locations>,
}

impl Frames {
    /// `None` where the image has no defmt messages.
    ///
    /// # Errors
    /// [`Error::Log`] where they are of a version that the decoder does not know.
    pub(crate) fn of(image: &Image) -> Result<Option<Frames>, Error> {
        let wrong = |error: &dyn std::fmt::Display| Error::Log { why: error.to_string() };
        let Some(table) = Table::parse(&image.bytes).map_err(|error| wrong(&error))? else { return Ok(None) };
        // Without debug information, messages are shown without their place.
        let locations = table.get_locations(&image.bytes).ok();
        Ok(Some(Frames { table, locations }))
    }
}

/// Reads the defmt frames of an image to their end, and gives what they say to `print`.
///
/// # Errors
/// [`Error::Log`] where the image has no defmt messages or the frames are damaged, [`Error::Io`] where reading fails.
pub fn decode_all(image: &Image, mut frames: impl Read, mut print: impl FnMut(&[u8])) -> Result<(), Error> {
    let Some(known) = Frames::of(image)? else {
        return Err(Error::Log { why: "the image has no defmt messages".to_owned() });
    };
    let mut decoder = known.table.new_stream_decoder();
    let mut bytes = [0; 1024];
    loop {
        match frames.read(&mut bytes).map_err(at("the frames"))? {
            0 => return Ok(()),
            count => {
                decoder.received(bytes.get(..count).unwrap_or_default());
                decode(&known, decoder.as_mut(), &mut print)?;
            }
        }
    }
}

/// The channels of a running firmware.
pub(crate) struct Log<'f> {
    /// Where its control block is.
    block: Option<u64>,
    rtt: Option<Rtt>,
    frames: Option<(&'f Frames, Box<dyn StreamDecoder + Send + Sync + 'f>)>,
    apart: Option<Apart>,
    /// Whether the firmware has the channel that is told apart.
    has_apart: bool,
}

impl<'f> Log<'f> {
    pub(crate) fn new(image: &Image, frames: Option<&'f Frames>, apart: Option<Apart>) -> Log<'f> {
        let frames = frames.map(|frames| (frames, frames.table.new_stream_decoder()));
        Log { block: image.rtt, rtt: None, frames, apart, has_apart: false }
    }

    /// Where everything goes that is not of the channel told apart; none where the firmware does not have that.
    pub(crate) fn others(&self) -> Option<fn(&[u8])> {
        self.apart.filter(|_| self.has_apart).map(|apart| apart.others)
    }

    /// Forgets the control block of a firmware that ran before. To be called before this one runs.
    ///
    /// # Errors
    /// [`Error::Lost`].
    pub(crate) fn clear(&self, core: &mut Core) -> Result<(), Error> {
        match self.block.map(|block| Rtt::clear_control_block(core, &ScanRegion::Exact(block))) {
            None | Some(Ok(()) | Err(RttError::ControlBlockNotFound)) => Ok(()),
            Some(Err(error)) => Err(broken(error)),
        }
    }

    /// Takes what the firmware has logged since, and gives it to `print`; whether there was anything.
    ///
    /// # Errors
    /// [`Error::Lost`], and [`Error::Log`] where frames are damaged and cannot be told apart.
    pub(crate) fn poll(&mut self, core: &mut Core, print: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        if let (None, Some(block)) = (&self.rtt, self.block) {
            self.rtt = match Rtt::attach_at(core, block) {
                Ok(mut rtt) => {
                    // Now that somebody reads, firmware can wait for room instead of dropping what does not fit.
                    for channel in rtt.up_channels() {
                        channel.set_mode(core, ChannelMode::BlockIfFull).map_err(broken)?;
                    }
                    // Start-up code may not have written the channels yet.
                    let ready = !rtt.up_channels().is_empty();
                    ready.then_some(rtt)
                }
                // Start-up code has yet to write it.
                Err(RttError::ControlBlockNotFound | RttError::ControlBlockCorrupted(_)) => None,
                Err(error) => return Err(broken(error)),
            };
        }
        let Some(rtt) = &mut self.rtt else { return Ok(false) };
        let apart = self.apart.map(|apart| apart.channel);
        self.has_apart = apart.is_some() && rtt.up_channels().iter().any(|channel| channel.name() == apart);
        let others = self.apart.filter(|_| self.has_apart).map(|apart| apart.others);
        let mut any = false;
        for channel in rtt.up_channels() {
            let mut bytes = [0; 1024];
            let count = channel.read(core, &mut bytes).map_err(broken)?;
            let Some(bytes) = bytes.get(..count).filter(|bytes| !bytes.is_empty()) else { continue };
            any = true;
            let print: &mut dyn FnMut(&[u8]) = match others {
                Some(others) if channel.name() != apart => &mut move |bytes: &[u8]| others(bytes),
                _ => &mut *print,
            };
            match &mut self.frames {
                Some((frames, decoder)) if channel.name() == Some(DEFMT_CHANNEL) => {
                    decoder.received(bytes);
                    decode(frames, decoder.as_mut(), print)?;
                }
                _ => print(bytes),
            }
        }
        Ok(any)
    }
}

/// Prints every frame that is complete.
fn decode(
    frames: &Frames,
    decoder: &mut dyn StreamDecoder,
    print: &mut dyn FnMut(&[u8]),
) -> Result<(), Error> {
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let place = frames.locations.as_ref().and_then(|locations| locations.get(&frame.index()));
                let place = place.map(|place| format!(" ({}:{})", place.file.display(), place.line));
                print(format!("{}{}\n", frame.display(false), place.unwrap_or_default()).as_bytes());
            }
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            // The beginning of the next frame can be found.
            Err(DecodeError::Malformed) if frames.table.encoding().can_recover() => {}
            Err(DecodeError::Malformed) => {
                return Err(Error::Log { why: "they are not of this ELF file, or damaged".to_owned() });
            }
        }
    }
}

fn broken(error: RttError) -> Error {
    match error {
        RttError::Probe(error) => lost("reading its log")(error),
        error => Error::Log { why: error.to_string() },
    }
}
