//! The plugin itself: gives QEMU's blocks to the counter, notes the totals at the markers, and writes a report at exit.
//!
//! Arguments (`-plugin libkiln_cycles.so,core=cortex-m4,begin=0x1000,end=0x1010,trace=0x1020,out=report.txt`):
//!
//! - `core`: whose cycles to estimate;
//! - `begin`, `end`: addresses of the instructions where a measured window starts and ends; several windows add up to one;
//! - `trace`: address of an instruction that starts a step of the window, every time it is executed; that of `begin` makes a step of each window;
//! - `meet`: address of an instruction at which no processor has begun, or all have done, what they do at the same time; any number of them;
//! - `idle`: addresses `START-END` of a function in which a processor waits for another one, which is not counted; any number of them;
//! - `out`: the report's file.
//!
//! Of several processors, from each marker to the next that one is counted whose cycles are the most: so long does it take.
//!
//! The report has one line per fact, counted from the start of the first window without what is between windows: `step N INSTRUCTIONS CYCLES` for the N-th time that `trace`
//! was executed, `class NAME INSTRUCTIONS`, `taken INSTRUCTIONS` (that changed the flow), `unaligned CYCLES` (more, for loads from unaligned
//! addresses), and last `window INSTRUCTIONS CYCLES`.
use crate::cores::Core;
use crate::count::{Block, Counter, Totals};
use crate::model::Class;
use crate::qemu::*;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static PLUGIN: Mutex<Plugin> = Mutex::new(Plugin::new());

/// Cycles that unaligned loads took more, by processor. Not in [`PLUGIN`]: it changes with single loads.
static UNALIGNED: [AtomicU64; PROCESSORS] = [const { AtomicU64::new(0) }; PROCESSORS];

/// How many processors a machine has at most. Others are not counted.
const PROCESSORS: usize = 2;

struct Plugin {
    core: Core,
    markers: Markers,
    out: Option<String>,
    meetings: Vec<u32>,
    /// Functions in which a processor waits.
    idle: Vec<Range<u32>>,
    counters: [Counter<'static>; PROCESSORS],
    /// Up to the last marker, of all windows.
    measured: Totals,
    /// What each processor had executed at the last marker of the current window.
    since: Option<[Totals; PROCESSORS]>,
    steps: Vec<Totals>,
}

/// Addresses, without the bit that says Thumb.
#[derive(Clone, Copy)]
struct Markers {
    begin: Option<u32>,
    end: Option<u32>,
    trace: Option<u32>,
}

/// A marker met inside a block.
#[derive(Clone, Copy)]
struct Marked {
    /// Position of the instruction in its block.
    index: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Begin,
    End,
    Trace,
    Meet,
}

impl Plugin {
    const fn new() -> Self {
        Plugin {
            core: Core::CortexM4,
            markers: Markers { begin: None, end: None, trace: None },
            out: None,
            meetings: Vec::new(),
            idle: Vec::new(),
            counters: [const { Counter::new() }; PROCESSORS],
            measured: Totals::ZERO,
            since: None,
            steps: Vec::new(),
        }
    }

    /// Takes one argument, `name=value`.
    fn configure(&mut self, argument: &str) -> Result<(), String> {
        let (name, value) =
            argument.split_once('=').ok_or_else(|| format!("`{argument}` is not name=value"))?;
        let address = || {
            let digits = value.strip_prefix("0x").unwrap_or(value);
            u32::from_str_radix(digits, 16)
                .map(|address| Some(address & !1))
                .map_err(|error| format!("{argument}: {error}"))
        };
        match name {
            "core" => self.core = Core::named(value).ok_or_else(|| format!("there is no core `{value}`"))?,
            "begin" => self.markers.begin = address()?,
            "end" => self.markers.end = address()?,
            "trace" => self.markers.trace = address()?,
            "meet" => self.meetings.extend(address()?),
            "idle" => {
                let range = value.split_once('-').and_then(|(start, end)| {
                    let number = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
                    Some(number(start)? & !1..number(end)?)
                });
                self.idle.push(range.ok_or_else(|| format!("`{argument}` is not START-END"))?);
            }
            "out" => self.out = Some(value.to_owned()),
            _ => return Err(format!("there is no argument `{name}`")),
        }
        Ok(())
    }

    fn at(&mut self, processor: usize, marked: Marked) {
        let now: [Totals; PROCESSORS] = std::array::from_fn(|index| match index == processor {
            true => self.now(index, |counter| counter.before(marked.index)),
            false => self.now(index, Counter::finish),
        });
        match (marked.kind, self.since) {
            (Kind::Begin, None) => {
                self.since = Some(now);
                if self.markers.trace == self.markers.begin {
                    self.steps.push(self.measured);
                }
            }
            (Kind::End, Some(since)) => {
                self.measured = self.measured + longest(since, now);
                self.since = None;
            }
            (Kind::Trace | Kind::Meet, Some(since)) => {
                self.measured = self.measured + longest(since, now);
                self.since = Some(now);
                if let Kind::Trace = marked.kind {
                    self.steps.push(self.measured);
                }
            }
            _ => {}
        }
    }

    /// What a processor has executed.
    fn now(&self, processor: usize, of: impl Fn(&Counter<'static>) -> Totals) -> Totals {
        let unaligned = UNALIGNED[processor].load(Ordering::Relaxed);
        Totals { unaligned, ..of(&self.counters[processor]) }
    }

    fn report(&self) -> String {
        // A window that the program never left ends with it.
        let open = self.since.map_or(Totals::ZERO, |since| {
            longest(since, std::array::from_fn(|index| self.now(index, Counter::finish)))
        });
        let window = self.measured + open;
        let mut text = String::new();
        for (index, step) in self.steps.iter().enumerate() {
            let _ = writeln!(text, "step {index} {} {}", step.instructions, step.cycles);
        }
        for class in Class::ALL {
            let _ = writeln!(text, "class {} {}", class.name(), window.classes[class as usize]);
        }
        let _ = writeln!(text, "taken {}", window.taken);
        let _ = writeln!(text, "unaligned {}", window.unaligned);
        let _ = writeln!(text, "window {} {}", window.instructions, window.cycles);
        text
    }
}

/// What the processor executed between two moments that took the most cycles.
fn longest(since: [Totals; PROCESSORS], now: [Totals; PROCESSORS]) -> Totals {
    let each = now.into_iter().zip(since).map(|(now, since)| now - since);
    each.reduce(|a, b| if b.cycles > a.cycles { b } else { a }).unwrap_or(Totals::ZERO)
}

impl Markers {
    fn at(&self, address: u32) -> Option<Kind> {
        let here = Some(address);
        if here == self.begin {
            Some(Kind::Begin)
        } else if here == self.end {
            Some(Kind::End)
        } else if here == self.trace {
            Some(Kind::Trace)
        } else {
            None
        }
    }
}

fn plugin() -> MutexGuard<'static, Plugin> {
    PLUGIN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// QEMU calls this once, with the arguments of `-plugin`. An answer other than 0 stops QEMU.
///
/// # Safety
/// `argv` points to `argc` zero-terminated strings.
#[no_mangle]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    _: *const c_void,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    for index in 0..usize::try_from(argc).unwrap_or(0) {
        // SAFETY: the caller vouches for `argc` strings.
        let argument = unsafe { CStr::from_ptr(*argv.add(index)) };
        if let Err(problem) = plugin().configure(&argument.to_string_lossy()) {
            eprintln!("kiln-cycles: {problem}");
            return 1;
        }
    }
    // SAFETY: `id` is the one just received, and the callbacks have the types that QEMU expects.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        qemu_plugin_register_atexit_cb(id, on_exit, std::ptr::null_mut());
    }
    0
}

/// Decodes a block, and asks to be called when it, or a marker in it, is executed.
extern "C" fn on_translation(_: PluginId, tb: *mut Tb) {
    let (markers, core, idle, meetings) = {
        let plugin = plugin();
        (plugin.markers, plugin.core, plugin.idle.clone(), plugin.meetings.clone())
    };
    let kind = |address: u32| match markers.at(address) {
        None if meetings.contains(&address) => Some(Kind::Meet),
        kind => kind,
    };
    // SAFETY: QEMU keeps `tb` and its instructions alive during this call. What is registered lives forever: QEMU does not say
    // when it forgets a translation, and a run translates each of a firmware's few thousand blocks a few times at most.
    unsafe {
        let start = qemu_plugin_tb_vaddr(tb) as u32;
        let waits = idle.iter().any(|range| range.contains(&start));
        let mut block = Block::new(start);
        for index in 0..qemu_plugin_tb_n_insns(tb) {
            let insn = qemu_plugin_tb_get_insn(tb, index);
            let (first, second) = halfwords(core, insn);
            block.push(core, first, second);
            if core.loads_unaligned() && core.cost(first, second).class == Class::Load {
                let nothing = std::ptr::null_mut();
                qemu_plugin_register_vcpu_mem_cb(insn, on_load, NO_REGISTERS, READS_AND_WRITES, nothing);
            }
            if let Some(kind) = kind(qemu_plugin_insn_vaddr(insn) as u32) {
                let marked = Box::into_raw(Box::new(Marked { index, kind }));
                qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, NO_REGISTERS, marked.cast());
            }
        }
        if waits {
            return;
        }
        let block = Box::into_raw(Box::new(block));
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, block.cast());
    }
}

/// The instruction's halfwords. Its encoding says how many there are: QEMU's size also counts what it peeked at beyond an
/// instruction at the end of a page.
///
/// # Safety
/// `insn` is an instruction of the block being translated.
unsafe fn halfwords(core: Core, insn: *const Insn) -> (u16, Option<u16>) {
    // SAFETY: QEMU holds that many bytes of the instruction, in guest order.
    let bytes = unsafe {
        std::slice::from_raw_parts(qemu_plugin_insn_data(insn).cast::<u8>(), qemu_plugin_insn_size(insn))
    };
    let halfword = |at: usize| bytes.get(at..at + 2).map_or(0, |pair| u16::from_le_bytes([pair[0], pair[1]]));
    let first = halfword(0);
    (first, core.is_wide(first).then(|| halfword(2)))
}

extern "C" fn on_block(processor: c_uint, block: *mut c_void) {
    if let Some(counter) = plugin().counters.get_mut(processor as usize) {
        // SAFETY: registered by `on_translation` with a `Block` that lives forever and is never written.
        counter.enter(unsafe { &*block.cast::<Block>() });
    }
}

extern "C" fn on_marker(processor: c_uint, marked: *mut c_void) {
    // SAFETY: registered by `on_translation` with a `Marked` that lives forever and is never written.
    plugin().at(processor as usize, unsafe { *marked.cast::<Marked>() });
}

/// A load of one register. An unaligned one takes a cycle more, a word from an odd address two (Cortex-M4 Technical Reference
/// Manual, 3.3.3).
extern "C" fn on_load(processor: c_uint, access: Access, address: u64, _: *mut c_void) {
    // SAFETY: `access` is what QEMU just gave.
    let bits = unsafe { qemu_plugin_mem_size_shift(access) };
    let more = match (bits, address & 3) {
        (1, 1 | 3) | (2, 2) => 1,
        (2, 1 | 3) => 2,
        _ => return,
    };
    if let Some(unaligned) = UNALIGNED.get(processor as usize) {
        unaligned.fetch_add(more, Ordering::Relaxed);
    }
}

extern "C" fn on_exit(_: PluginId, _: *mut c_void) {
    let plugin = plugin();
    let report = plugin.report();
    match &plugin.out {
        Some(path) => {
            if let Err(error) = std::fs::write(path, report) {
                eprintln!("kiln-cycles: {path}: {error}");
            }
        }
        None => eprint!("{report}"),
    }
}
