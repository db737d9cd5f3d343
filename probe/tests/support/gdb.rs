//! QEMU with its GDB server: the remote serial protocol, as far as a probe needs it.
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
/// Bytes of memory in one packet: QEMU takes 4096 characters.
const CHUNK: usize = 1024;

/// An emulated machine, halted at first.
pub(super) struct Gdb {
    qemu: Child,
    stream: UnixStream,
    /// Received, and not looked at yet.
    buffer: Vec<u8>,
    running: bool,
    breakpoints: BTreeSet<u32>,
}

impl Gdb {
    pub(super) fn start(machine: &str) -> Gdb {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("kiln-gdb-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let socket = std::env::temp_dir().join(name);
        let qemu = Command::new(kiln_boards::toolchain::ensure_qemu("qemu-system-arm").unwrap())
            .args(["-machine", machine, "-S", "-nographic", "-monitor", "none", "-serial", "none"])
            // Its clock goes with its instructions: timers say the same each time, also of a few of them.
            .args(["-icount", "shift=6"])
            .arg("-chardev")
            .arg(format!("socket,id=gdb,path={},server=on,wait=off", socket.display()))
            .args(["-gdb", "chardev:gdb"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(_) if started.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => panic!("QEMU's GDB server: {error}"),
            }
        };
        let _ = std::fs::remove_file(socket);
        let mut gdb = Gdb { qemu, stream, buffer: Vec::new(), running: false, breakpoints: BTreeSet::new() };
        // Single registers can be asked for once their description was.
        gdb.command("qXfer:features:read:target.xml:0,ffb");
        gdb
    }

    pub(super) fn is_running(&mut self) -> bool {
        if self.running && self.receive(Duration::ZERO).is_some() {
            self.running = false;
        }
        self.running
    }

    /// Lets the core run until a breakpoint, or [`Gdb::halt`].
    pub(super) fn resume(&mut self) {
        assert!(!self.running);
        self.send(b"c");
        self.running = true;
    }

    /// Halts the core; whether it was running.
    pub(super) fn halt(&mut self) -> bool {
        if !self.is_running() {
            return false;
        }
        self.stream.write_all(&[3]).unwrap();
        self.receive(LIMIT).unwrap();
        self.running = false;
        true
    }

    /// One instruction.
    pub(super) fn step(&mut self) {
        self.send(b"s");
        self.receive(LIMIT).unwrap();
    }

    pub(super) fn register(&mut self, number: u32) -> u32 {
        let answer = self.command(&format!("p{number:x}"));
        u32::from_be_bytes(bytes(&answer).try_into().unwrap()).swap_bytes()
    }

    pub(super) fn set_register(&mut self, number: u32, value: u32) {
        assert_eq!(self.command(&format!("P{number:x}={:08x}", value.swap_bytes())), "OK");
    }

    pub(super) fn read(&mut self, address: u32, data: &mut [u8]) {
        for (index, chunk) in data.chunks_mut(CHUNK).enumerate() {
            let address = address + (index * CHUNK) as u32;
            let answer = self.command(&format!("m{address:x},{:x}", chunk.len()));
            match answer.starts_with('E') {
                // Nothing there: zero, as many chips answer.
                true => chunk.fill(0),
                false => chunk.copy_from_slice(&bytes(&answer)),
            }
        }
    }

    pub(super) fn write(&mut self, address: u32, data: &[u8]) {
        for (index, chunk) in data.chunks(CHUNK).enumerate() {
            let address = address + (index * CHUNK) as u32;
            let hex: String = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
            self.command(&format!("M{address:x},{:x}:{hex}", chunk.len()));
        }
    }

    /// Halts the core where it gets to `address`.
    pub(super) fn set_breakpoint(&mut self, address: u32) {
        if self.breakpoints.insert(address) {
            assert_eq!(self.command(&format!("Z0,{address:x},2")), "OK");
        }
    }

    pub(super) fn clear_breakpoints(&mut self, range: std::ops::Range<u32>) {
        let within: Vec<u32> = self.breakpoints.range(range).copied().collect();
        for address in within {
            self.breakpoints.remove(&address);
            assert_eq!(self.command(&format!("z0,{address:x},2")), "OK");
        }
    }

    /// Resets the machine, which stays halted.
    pub(super) fn reset(&mut self) {
        const MARK: u32 = 0x5eed_5eed;
        self.set_register(0, MARK);
        let request: String = "system_reset".bytes().map(|byte| format!("{byte:02x}")).collect();
        self.command(&format!("qRcmd,{request}"));
        // It happens some time after the answer.
        let started = Instant::now();
        while self.register(0) == MARK {
            assert!(started.elapsed() < LIMIT, "QEMU does not reset");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn command(&mut self, command: &str) -> String {
        assert!(!self.running, "{command}: the core runs");
        self.send(command.as_bytes());
        let answer = self.receive(LIMIT).unwrap_or_else(|| panic!("QEMU does not answer {command}"));
        String::from_utf8(answer).unwrap()
    }

    fn send(&mut self, packet: &[u8]) {
        let sum = packet.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        let framed = [b"$", packet, format!("#{sum:02x}").as_bytes()].concat();
        self.stream.write_all(&framed).unwrap();
    }

    /// The next packet, acknowledged; `None` if none comes within `limit`. Console output is skipped.
    fn receive(&mut self, limit: Duration) -> Option<Vec<u8>> {
        let started = Instant::now();
        loop {
            if let Some(packet) = self.packet() {
                self.stream.write_all(b"+").unwrap();
                if packet.first() == Some(&b'O') && packet != b"OK" {
                    continue;
                }
                return Some(packet);
            }
            let left = limit.saturating_sub(started.elapsed());
            self.stream.set_read_timeout(Some(left.max(Duration::from_micros(100)))).unwrap();
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => panic!("QEMU has ended"),
                Ok(count) => self.buffer.extend(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if left.is_zero() {
                        return None;
                    }
                }
                Err(error) => panic!("QEMU's GDB server: {error}"),
            }
        }
    }

    /// A complete packet from the buffer.
    fn packet(&mut self) -> Option<Vec<u8>> {
        let start = self.buffer.iter().position(|&byte| byte == b'$')?;
        let end = start + self.buffer[start..].iter().position(|&byte| byte == b'#')?;
        if self.buffer.len() < end + 3 {
            return None;
        }
        let packet = self.buffer[start + 1..end].to_vec();
        self.buffer.drain(..end + 3);
        Some(packet)
    }
}

impl Drop for Gdb {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
