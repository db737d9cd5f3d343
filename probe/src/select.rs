//! Which probe.
use crate::Error;
use probe_rs::probe::list::Lister;
use probe_rs::probe::{DebugProbeInfo, Probe};
use std::fmt::Write;

/// Opens the only probe there is or, of several, the one whose serial number (or `VID:PID`, or `VID:PID:SERIAL`) is `asked`.
///
/// # Errors
/// [`Error::NoProbe`], [`Error::SeveralProbes`], [`Error::OtherProbes`], [`Error::Open`].
pub fn select(lister: &Lister, asked: Option<&str>) -> Result<Probe, Error> {
    let probes = lister.list_all();
    let matching: Vec<&DebugProbeInfo> =
        probes.iter().filter(|probe| asked.is_none_or(|asked| is_called(probe, asked))).collect();
    let probe = match (matching.as_slice(), probes.as_slice()) {
        ([probe], _) => probe,
        (_, []) => return Err(Error::NoProbe),
        ([], probes) => {
            let asked = asked.unwrap_or_default().to_owned();
            return Err(Error::OtherProbes { asked, present: list(probes.iter()) });
        }
        (several, _) => return Err(Error::SeveralProbes { present: list(several.iter().copied()) }),
    };
    // Through the lister, which may be one of a test.
    lister.open(*probe).map_err(|source| Error::Open { probe: probe.identifier.clone(), source })
}

fn is_called(probe: &DebugProbeInfo, asked: &str) -> bool {
    let id = format!("{:04x}:{:04x}", probe.vendor_id, probe.product_id);
    let serial = probe.serial_number.as_deref();
    let full = serial.map(|serial| format!("{id}:{serial}"));
    let names = [serial, Some(id.as_str()), full.as_deref()];
    names.iter().flatten().any(|name| name.eq_ignore_ascii_case(asked))
}

/// A line for each: its serial number (or, without one, its USB numbers), and what it is.
fn list<'p>(probes: impl Iterator<Item = &'p DebugProbeInfo>) -> String {
    let mut lines = String::new();
    for probe in probes {
        let id = format!("{:04x}:{:04x}", probe.vendor_id, probe.product_id);
        let name = probe.serial_number.as_deref().unwrap_or(&id);
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "  {name}  {} ({})", probe.identifier, probe.probe_type());
    }
    lines.trim_end().to_owned()
}
