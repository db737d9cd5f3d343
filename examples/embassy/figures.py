#!/usr/bin/env python3
"""Measures the network with `cargo kiln bench` and writes the table in README.md. Needs Cargo and QEMU, and no packages."""
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE / "models/digits32_int8.tflite"
# Cores of the boards, with their emulations, and the boards' clocks in MHz.
BOARDS = {"nrf52840-dk": ("qemu-cortex-m4", 64), "raspberry-pi-pico": ("qemu-cortex-m0", 125)}


def measure(board, optimize):
    emulated, mhz = BOARDS[board]
    command = ["cargo", "kiln", "bench", str(MODEL), "--on", emulated, "--optimize", optimize, "--per-layer", "--json"]
    result = json.loads(subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout)
    cycles = result["cycles_estimated"]
    longest = max(result["layers"], key=lambda layer: layer["cycles_estimated"])
    return (f"| `{board}`, {mhz} MHz | {result['arena_bytes']:,} B | {cycles:,} | {cycles / mhz / 1000:.1f} ms "
            f"| {longest['op']}, {longest['cycles_estimated'] / mhz / 1000:.1f} ms |")


def main():
    lines = ["| board | arena | estimated cycles, one image | at its clock | longest step |", "|---|--:|--:|--:|---|"]
    lines += [measure(board, "speed") for board in BOARDS]
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
