//! The debug registers of a Cortex-M core, which QEMU does not have: what they do, done over GDB's protocol.
//!
//! "Armv7-M Architecture Reference Manual" (Arm DDI 0403), chapter C1.
use super::gdb::Gdb;
use std::ops::Range;

const AIRCR: u32 = 0xe000_ed0c;
const DFSR: u32 = 0xe000_ed30;
const DHCSR: u32 = 0xe000_edf0;
const DCRSR: u32 = 0xe000_edf4;
const DCRDR: u32 = 0xe000_edf8;
const DEMCR: u32 = 0xe000_edfc;
/// Breakpoint unit: its registers hold what was written, and no breakpoint is ever set that way.
const FPB: Range<u32> = 0xe000_2000..0xe000_2100;

const DEBUG_KEY: u32 = 0xa05f;
const C_HALT: u32 = 1 << 1;
const C_STEP: u32 = 1 << 2;
const S_REGRDY: u32 = 1 << 16;
const S_HALT: u32 = 1 << 17;
const S_LOCKUP: u32 = 1 << 19;
const S_RESET_ST: u32 = 1 << 25;
const DFSR_HALTED: u32 = 1;
const DFSR_BKPT: u32 = 1 << 1;
const DFSR_VCATCH: u32 = 1 << 3;
const VC_CORERESET: u32 = 1;
const SYSRESETREQ: u32 = 1 << 2;
const PC: u32 = 15;
/// GDB's number of xPSR; in DCRSR it is 16.
const XPSR: u32 = 25;

/// Breakpoint instructions that are known to be ones: semihosting's, and those that flash algorithms end in.
const BREAKPOINTS: [[u8; 2]; 3] = [[0xab, 0xbe], [0x00, 0xbe], [0x0a, 0xbe]];

/// An emulated core.
pub(super) struct Core {
    gdb: Gdb,
    /// Flash, which firmware gets into without being written from here.
    flash: Range<u32>,
    control: u32,
    /// Whether the core was seen to be halted, or halted from here.
    halted: bool,
    /// Let go with nothing to execute: a core locks up then, and QEMU would end.
    locked_up: bool,
    dfsr: u32,
    demcr: u32,
    dcrdr: u32,
    was_reset: bool,
}

impl Core {
    pub(super) fn start(machine: &str, flash: Range<u32>) -> Core {
        let gdb = Gdb::start(machine);
        // As after power-up: halted here, which only shows once a debugger asks.
        Core {
            gdb,
            flash,
            control: 0,
            halted: true,
            locked_up: false,
            dfsr: 0,
            demcr: 0,
            dcrdr: 0,
            was_reset: false,
        }
    }

    pub(super) fn read_word(&mut self, address: u32) -> u32 {
        match address {
            DHCSR => {
                self.look();
                // Halting sets C_HALT, whatever the reason.
                let state = if self.halted { S_HALT | C_HALT } else { 0 };
                let reset = if std::mem::take(&mut self.was_reset) { S_RESET_ST } else { 0 };
                let lockup = if self.locked_up { S_LOCKUP } else { 0 };
                self.control | S_REGRDY | state | reset | lockup
            }
            DFSR => self.dfsr,
            DCRDR => self.dcrdr,
            DEMCR => self.demcr,
            // No comparators, revision 1.
            address if FPB.contains(&address) => 0,
            address => {
                let mut bytes = [0; 4];
                self.read(address, &mut bytes);
                u32::from_le_bytes(bytes)
            }
        }
    }

    pub(super) fn write_word(&mut self, address: u32, value: u32) {
        match address {
            DHCSR if value >> 16 == DEBUG_KEY => self.run_control(value & 0xffff),
            DFSR => self.dfsr &= !value,
            DCRDR => self.dcrdr = value,
            DCRSR => self.transfer(value),
            DEMCR => self.demcr = value,
            AIRCR if value & SYSRESETREQ != 0 => self.reset(),
            address if FPB.contains(&address) => {}
            address => self.write(address, &value.to_le_bytes()),
        }
    }

    pub(super) fn read(&mut self, address: u32, data: &mut [u8]) {
        let ran = self.pause();
        self.gdb.read(address, data);
        self.go_on(ran);
    }

    pub(super) fn write(&mut self, address: u32, data: &[u8]) {
        let ran = self.pause();
        self.gdb.write(address, data);
        self.mark(address, data);
        self.go_on(ran);
    }

    fn run_control(&mut self, control: u32) {
        self.control = control & 0xf;
        self.look();
        match (self.halted, control & C_HALT != 0, control & C_STEP != 0) {
            (false, true, _) => {
                self.gdb.halt();
                self.halted = true;
                self.locked_up = false;
                self.dfsr |= DFSR_HALTED;
            }
            (true, false, true) if self.at_breakpoint() => self.dfsr |= DFSR_BKPT,
            (true, false, true) => {
                if !self.at_nothing() {
                    self.gdb.step();
                }
                self.dfsr |= DFSR_HALTED;
            }
            (true, false, false) => self.let_go(),
            _ => {}
        }
    }

    /// Sees whether the core has got to a breakpoint.
    fn look(&mut self) {
        if !self.halted && !self.locked_up && !self.gdb.is_running() {
            self.halted = true;
            self.dfsr |= DFSR_BKPT;
        }
    }

    /// A core register to or from DCRDR.
    fn transfer(&mut self, selector: u32) {
        assert!(self.halted, "registers of a running core");
        let register = match selector & 0x7f {
            number @ 0..=15 => number,
            16 => XPSR,
            // The main stack pointer is the one in use.
            17 => 13,
            _ => {
                self.dcrdr = 0;
                return;
            }
        };
        match selector & 1 << 16 != 0 {
            true => self.gdb.set_register(register, self.dcrdr),
            false => self.dcrdr = self.gdb.register(register),
        }
    }

    fn reset(&mut self) {
        self.gdb.halt();
        self.gdb.reset();
        self.was_reset = true;
        self.dfsr = 0;
        self.mark_flash();
        (self.halted, self.locked_up) = (true, false);
        match self.demcr & VC_CORERESET != 0 {
            true => self.dfsr = DFSR_VCATCH,
            false => self.let_go(),
        }
    }

    fn let_go(&mut self) {
        self.halted = false;
        self.locked_up = self.at_nothing();
        if !self.locked_up {
            self.gdb.resume();
        }
    }

    /// Whether there is nothing to execute: erased flash, or RAM that nobody has written.
    fn at_nothing(&mut self) -> bool {
        let pc = self.gdb.register(PC);
        let mut instructions = [0; 4];
        self.gdb.read(pc & !1, &mut instructions);
        matches!(instructions, [0, 0, 0, 0] | [0xff, 0xff, 0xff, 0xff])
    }

    fn at_breakpoint(&mut self) -> bool {
        let pc = self.gdb.register(PC);
        let mut instruction = [0; 2];
        self.gdb.read(pc & !1, &mut instruction);
        BREAKPOINTS.contains(&instruction)
    }

    /// QEMU takes breakpoint instructions for faults: each gets a breakpoint of GDB's, which halts the core as the instruction would.
    fn mark(&mut self, address: u32, data: &[u8]) {
        let odd = (address & 1) as usize;
        self.gdb.clear_breakpoints(address..address + data.len() as u32);
        for (index, halfword) in data.get(odd..).unwrap_or_default().chunks_exact(2).enumerate() {
            if BREAKPOINTS.iter().any(|breakpoint| breakpoint == halfword) {
                self.gdb.set_breakpoint(address + (odd + 2 * index) as u32);
            }
        }
    }

    fn mark_flash(&mut self) {
        let mut data = vec![0; self.flash.len()];
        self.gdb.read(self.flash.start, &mut data);
        self.mark(self.flash.start, &data);
    }

    fn pause(&mut self) -> bool {
        self.look();
        !self.halted && self.gdb.halt()
    }

    fn go_on(&mut self, ran: bool) {
        if ran {
            self.gdb.resume();
        }
    }
}
