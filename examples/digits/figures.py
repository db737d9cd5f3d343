#!/usr/bin/env python3
"""Measures the networks with `cargo kiln bench` and writes the table in README.md. Needs Cargo and QEMU, and no packages."""
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOARD = "qemu-cortex-m4"
ROWS = {
    "right answers of 360, Kiln and TFLite Micro alike": lambda r: f"{r['right']} ({r['right'] / 3.6:.2f} %)",
    "arena": lambda r: f"{r['arena_bytes']:,} B",
    "peak stack": lambda r: f"{r['stack_bytes']:,} B",
    "weights in flash": lambda r: f"{r['flash_weights_bytes']:,} B",
    "code and other constants in flash": lambda r: f"{r['flash_code_bytes'] + r['flash_const_bytes']:,} B",
    "executed instructions, one image": lambda r: f"{r['instructions']:,}",
    "estimated cycles, one image": lambda r: f"{r['cycles_estimated']:,}",
}


def cargo(*arguments, folder=HERE):
    return subprocess.run(["cargo", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(name):
    result = json.loads(cargo("kiln", "bench", f"{HERE}/models/{name}.tflite", "--on", BOARD, "--json"))
    result["right"] = int(dict(line.split() for line in (HERE / "data/tflm.txt").read_text().splitlines())[name])
    return result


def main():
    # Fails where the answers are not TFLite Micro's.
    cargo("run", "--release", "--quiet", folder=HERE / "host")
    names = ["digits_f32", "digits_int8"]
    results = [measure(name) for name in names]
    lines = [f"| on `{BOARD}` | {' | '.join(f'`{name}`' for name in names)} |", "|---|---:|---:|"]
    lines += [f"| {title} | {' | '.join(row(r) for r in results)} |" for title, row in ROWS.items()]
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
