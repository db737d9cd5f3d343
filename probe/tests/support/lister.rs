//! Lists of probes that are not there.
use probe_rs::probe::list::{Lister, ProbeListItem, ProbeLister};
use probe_rs::probe::{
    DebugProbe, DebugProbeError, DebugProbeInfo, DebugProbeSelector, Probe, ProbeCreationError, ProbeFactory,
};
use std::fmt;

/// A lister that finds probes with these serial numbers, none of which can be opened.
pub(crate) fn lister(serials: &'static [&'static str]) -> Lister {
    Lister::with_lister(Box::new(Listed(serials)))
}

#[derive(Debug)]
struct Listed(&'static [&'static str]);

impl ProbeLister for Listed {
    fn open(&self, _: &DebugProbeSelector) -> Result<Probe, DebugProbeError> {
        Err(DebugProbeError::ProbeCouldNotBeCreated(ProbeCreationError::CouldNotOpen))
    }

    fn list_with_access(&self, _: Option<&DebugProbeSelector>) -> Vec<ProbeListItem> {
        let info = |serial: &&str| {
            DebugProbeInfo::new(
                "Some Probe",
                0x1366,
                0x1051,
                Some((*serial).to_owned()),
                &Factory,
                None,
                false,
            )
        };
        self.0.iter().map(|serial| ProbeListItem::accessible(info(serial))).collect()
    }
}

#[derive(Debug)]
struct Factory;

impl fmt::Display for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("test")
    }
}

impl ProbeFactory for Factory {
    fn open(&self, _: &DebugProbeSelector) -> Result<Box<dyn DebugProbe>, DebugProbeError> {
        Err(DebugProbeError::ProbeCouldNotBeCreated(ProbeCreationError::CouldNotOpen))
    }
    fn list_probes(&self) -> Vec<ProbeListItem> {
        Vec::new()
    }
}
