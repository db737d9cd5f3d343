//! The emulated core behind probe-rs's traits.
use super::registers::Core;
use probe_rs::architecture::arm::ap::CSW;
use probe_rs::architecture::arm::dp::{DpAddress, DpRegisterAddress};
use probe_rs::architecture::arm::memory::ArmMemoryInterface;
use probe_rs::architecture::arm::sequences::ArmDebugSequence;
use probe_rs::architecture::arm::{
    ApAddress, ArmDebugInterface, ArmError, DapAccess, DapProbe, FullyQualifiedApAddress, SwdSequence,
    SwoAccess, SwoConfig,
};
use probe_rs::probe::{DebugProbe, DebugProbeError, Probe, WireProtocol};
use probe_rs::MemoryInterface;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// APPROTECTSTATUS of Nordic's control access port: 0 where the chip is locked.
const APPROTECTSTATUS: u64 = 0x00c;

/// A probe with an emulated chip.
pub(crate) struct EmulatedProbe {
    core: Core,
    locked: bool,
}

impl EmulatedProbe {
    /// A machine of QEMU's, whose flash is in that range.
    pub(crate) fn open(machine: &str, flash: Range<u32>) -> Probe {
        Probe::new(EmulatedProbe { core: Core::start(machine, flash), locked: false })
    }

    /// The same, with a chip that says it is locked, as Nordic's do.
    pub(crate) fn locked(machine: &str) -> Probe {
        Probe::new(EmulatedProbe { core: Core::start(machine, 0..0), locked: true })
    }
}

impl fmt::Debug for EmulatedProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmulatedProbe")
    }
}

impl DebugProbe for EmulatedProbe {
    fn get_name(&self) -> &str {
        "emulated"
    }
    fn speed_khz(&self) -> u32 {
        1000
    }
    fn set_speed(&mut self, speed_khz: u32) -> Result<u32, DebugProbeError> {
        Ok(speed_khz)
    }
    fn attach(&mut self) -> Result<(), DebugProbeError> {
        Ok(())
    }
    fn detach(&mut self) -> Result<(), probe_rs::Error> {
        Ok(())
    }
    fn target_reset(&mut self) -> Result<(), DebugProbeError> {
        Err(DebugProbeError::CommandNotSupportedByProbe { command_name: "target_reset" })
    }
    fn target_reset_assert(&mut self) -> Result<(), DebugProbeError> {
        self.target_reset()
    }
    fn target_reset_deassert(&mut self) -> Result<(), DebugProbeError> {
        self.target_reset()
    }
    fn select_protocol(&mut self, _: WireProtocol) -> Result<(), DebugProbeError> {
        Ok(())
    }
    fn active_protocol(&self) -> Option<WireProtocol> {
        Some(WireProtocol::Swd)
    }
    fn into_probe(self: Box<Self>) -> Box<dyn DebugProbe> {
        self
    }
    fn has_arm_interface(&self) -> bool {
        true
    }
    fn try_get_arm_debug_interface<'probe>(
        self: Box<Self>,
        _: Arc<dyn ArmDebugSequence>,
    ) -> Result<Box<dyn ArmDebugInterface + 'probe>, (Box<dyn DebugProbe>, ArmError)> {
        Ok(Box::new(Interface { probe: self, port: None }))
    }
}

struct Interface {
    probe: Box<EmulatedProbe>,
    port: Option<DpAddress>,
}

impl ArmDebugInterface for Interface {
    fn reinitialize(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
    fn access_ports(&mut self, dp: DpAddress) -> Result<BTreeSet<FullyQualifiedApAddress>, ArmError> {
        Ok(BTreeSet::from([FullyQualifiedApAddress::v1_with_dp(dp, 0)]))
    }
    fn close(self: Box<Self>) -> Probe {
        Probe::from_specific_probe(self.probe)
    }
    fn select_debug_port(&mut self, dp: DpAddress) -> Result<(), ArmError> {
        self.port = Some(dp);
        Ok(())
    }
    fn current_debug_port(&self) -> Option<DpAddress> {
        self.port
    }
    fn memory_interface(
        &mut self,
        port: &FullyQualifiedApAddress,
    ) -> Result<Box<dyn ArmMemoryInterface + '_>, ArmError> {
        Ok(Box::new(Memory { interface: self, port: port.clone() }))
    }
}

impl SwdSequence for Interface {
    fn swj_sequence(&mut self, _: u8, _: u64) -> Result<(), DebugProbeError> {
        Ok(())
    }
    fn swj_pins(&mut self, _: u32, _: u32, _: u32) -> Result<u32, DebugProbeError> {
        Ok(0)
    }
}

impl SwoAccess for Interface {
    fn enable_swo(&mut self, _: &SwoConfig) -> Result<(), ArmError> {
        Ok(())
    }
    fn disable_swo(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
    fn read_swo_timeout(&mut self, _: Duration) -> Result<Vec<u8>, ArmError> {
        Ok(Vec::new())
    }
}

impl DapAccess for Interface {
    fn read_raw_dp_register(&mut self, _: DpAddress, _: DpRegisterAddress) -> Result<u32, ArmError> {
        Ok(0)
    }
    fn write_raw_dp_register(&mut self, _: DpAddress, _: DpRegisterAddress, _: u32) -> Result<(), ArmError> {
        Ok(())
    }
    fn read_raw_ap_register(&mut self, ap: &FullyQualifiedApAddress, address: u64) -> Result<u32, ArmError> {
        let status = *ap.ap() == ApAddress::V1(1) && address == APPROTECTSTATUS;
        Ok(u32::from(status && !self.probe.locked))
    }
    fn write_raw_ap_register(&mut self, _: &FullyQualifiedApAddress, _: u64, _: u32) -> Result<(), ArmError> {
        Ok(())
    }
    fn try_dap_probe(&self) -> Option<&dyn DapProbe> {
        None
    }
    fn try_dap_probe_mut(&mut self) -> Option<&mut dyn DapProbe> {
        None
    }
}

/// Memory and memory-mapped registers.
struct Memory<'i> {
    interface: &'i mut Interface,
    port: FullyQualifiedApAddress,
}

impl Memory<'_> {
    fn core(&mut self) -> &mut Core {
        &mut self.interface.probe.core
    }
}

impl ArmMemoryInterface for Memory<'_> {
    fn fully_qualified_address(&self) -> FullyQualifiedApAddress {
        self.port.clone()
    }
    fn base_address(&mut self) -> Result<u64, ArmError> {
        Ok(0xe00f_f000)
    }
    fn get_arm_debug_interface(&mut self) -> Result<&mut dyn ArmDebugInterface, DebugProbeError> {
        Ok(self.interface)
    }
    fn generic_status(&mut self) -> Result<CSW, ArmError> {
        Err(ArmError::WrongApType)
    }
}

impl MemoryInterface<ArmError> for Memory<'_> {
    fn supports_native_64bit_access(&mut self) -> bool {
        false
    }
    fn supports_8bit_transfers(&self) -> Result<bool, ArmError> {
        Ok(true)
    }
    fn read_64(&mut self, address: u64, data: &mut [u64]) -> Result<(), ArmError> {
        for (index, value) in data.iter_mut().enumerate() {
            let mut words = [0; 2];
            self.read_32(address + 8 * index as u64, &mut words)?;
            *value = u64::from(words[1]) << 32 | u64::from(words[0]);
        }
        Ok(())
    }
    fn read_32(&mut self, address: u64, data: &mut [u32]) -> Result<(), ArmError> {
        if let [word] = data {
            *word = self.core().read_word(address as u32);
            return Ok(());
        }
        let mut bytes = vec![0; 4 * data.len()];
        self.core().read(address as u32, &mut bytes);
        for (word, bytes) in data.iter_mut().zip(bytes.chunks(4)) {
            *word = u32::from_le_bytes(bytes.try_into().unwrap());
        }
        Ok(())
    }
    fn read_16(&mut self, address: u64, data: &mut [u16]) -> Result<(), ArmError> {
        let mut bytes = vec![0; 2 * data.len()];
        self.core().read(address as u32, &mut bytes);
        for (value, bytes) in data.iter_mut().zip(bytes.chunks(2)) {
            *value = u16::from_le_bytes(bytes.try_into().unwrap());
        }
        Ok(())
    }
    fn read_8(&mut self, address: u64, data: &mut [u8]) -> Result<(), ArmError> {
        self.core().read(address as u32, data);
        Ok(())
    }
    fn write_64(&mut self, address: u64, data: &[u64]) -> Result<(), ArmError> {
        let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.write_8(address, &bytes)
    }
    fn write_32(&mut self, address: u64, data: &[u32]) -> Result<(), ArmError> {
        if let [word] = data {
            self.core().write_word(address as u32, *word);
            return Ok(());
        }
        let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.write_8(address, &bytes)
    }
    fn write_16(&mut self, address: u64, data: &[u16]) -> Result<(), ArmError> {
        let bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.write_8(address, &bytes)
    }
    fn write_8(&mut self, address: u64, data: &[u8]) -> Result<(), ArmError> {
        self.core().write(address as u32, data);
        Ok(())
    }
    fn flush(&mut self) -> Result<(), ArmError> {
        Ok(())
    }
}
