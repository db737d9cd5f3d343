#!/usr/bin/env python3
"""Listens to the held-out set, runs the firmware, measures with `cargo kiln bench`, and writes the table in README.md. Needs Cargo and QEMU.

    python3 data.py FOLDER       # see there
    python3 figures.py FOLDER
"""
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE / "models/wake_word_int8.onnx"
# Cores of the boards, with their emulations, and the boards' clocks in MHz.
BOARDS = {
    "nrf52840-dk": ("qemu-cortex-m4", 64),
    "raspberry-pi-pico": ("qemu-cortex-m0", 125),
    "raspberry-pi-pico-2": ("qemu-cortex-m33", 150),
}
HOP_MS = 20


def cargo(*arguments, folder=HERE):
    return subprocess.run(["cargo", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def listen(folder):
    """Recordings, their hours, how many have reports, and all reports: by the detector with its threshold, as firmware has it."""
    said = cargo("run", "--release", "--quiet", "--example", "listen", "--", str(folder), folder=HERE / "detector")
    recordings, hours, heard, reports = re.search(r"(\d+) recordings, ([\d.]+) hours: (\d+) with reports, (\d+) reports", said).groups()
    return int(recordings), float(hours), int(heard), int(reports)


def measure(board):
    emulated, mhz = BOARDS[board]
    library = (HERE / "detector/src/lib.rs").read_text()
    options = ["--features", re.search(r'features = "(.*)"', library).group(1)]
    for pair in re.findall(r'state\("(.*)", "(.*)"\)', library):
        options += ["--state", "=".join(pair)]
    result = json.loads(cargo("kiln", "bench", str(MODEL), "--on", emulated, *options, "--json"))
    cycles = result["cycles_estimated"]
    return [
        f"`{board}`, {mhz} MHz",
        f"{cycles:,}",
        f"{cycles / mhz / 1000:.1f} ms",
        f"{cycles / mhz / 10 / HOP_MS:.0f} %",
        f"{result['arena_bytes'] + result['state_bytes']:,} B",
        f"{result['stack_bytes']:,} B",
        f"{result['flash_weights_bytes']:,} B",
        f"{result['flash_model_code_bytes']:,} B",
    ]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve() / "held-out"
    # Fails where the reports are not the expected ones.
    said = cargo("run", "--release", "--quiet", folder=HERE / "firmware/qemu-cortex-m4")
    clips = re.search(r"(\d+ of \d+) heard, (\d+) false accepts", said)
    words, _, heard, _ = listen(folder / "hey_kiln")
    alike, _, taken, _ = listen(folder / "alike")
    _, hours, _, reports = listen(folder / "other")
    percent = lambda part, whole: f"{part} of {whole:,}: {100 * part / whole:.1f} %"
    lines = [
        "| held-out voices | |",
        "|---|--:|",
        f"| wake words missed | {percent(words - heard, words)} |",
        f"| false accepts of phrases that sound alike | {percent(taken, alike)} |",
        f"| false accepts in {hours:.2f} hours of other speech | {reports}: {reports / hours:.1f} per hour |",
        f"| the clips on an emulated Cortex-M4 | {clips.group(1)} heard, {clips.group(2)} false accepts |",
        "",
    ]
    rows = ["", f"estimated cycles, {HOP_MS} ms of sound", "time for them", "duty", "RAM: arena and state", "peak stack", "weights and tables in flash", "code in flash"]
    columns = [measure(board) for board in BOARDS]
    for index, row in enumerate(zip(rows, *columns)):
        lines.append("| " + " | ".join(row) + " |")
        if index == 0:
            lines.append("|---|" + "--:|" * len(columns))
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
