#!/usr/bin/env python3
"""Runs the firmware, measures the network with `cargo kiln bench`, and writes the table in README.md. Needs Cargo and QEMU, and no packages."""
import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOARD = "qemu-cortex-m4"


def cargo(*arguments, folder=HERE):
    return subprocess.run(["cargo", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    # Fails where the reports are not those of TFLite Micro's scores.
    said = cargo("run", "--release", "--quiet", folder=HERE / "firmware" / BOARD)
    rows, heard, digits = re.search(r"(\d+) rows: (\d+) of (\d+) heard", said).groups()
    alarms = re.search(r"(\d+) false alarms", said).group(1)
    model = HERE / "models/wake_digit_int8.tflite"
    result = json.loads(cargo("kiln", "bench", str(model), "--on", BOARD, "--input", "sliding", "--json"))
    lines = [
        f"| on `{BOARD}` | |",
        "|---|--:|",
        f"| rows of the held-out strip | {int(rows):,} |",
        f"| heard, of the digits 0 on it | {heard} of {digits} |",
        f"| false alarms | {alarms} |",
        f"| estimated cycles for a row | {result['cycles_estimated']:,} |",
        f"| the same with the whole window computed each time | {result['window_cycles_estimated']:,} |",
        f"| RAM: arena and state | {result['arena_bytes'] + result['state_bytes']:,} B |",
        f"| peak stack | {result['stack_bytes']:,} B |",
        f"| weights in flash | {result['flash_weights_bytes']:,} B |",
        f"| the model's code in flash | {result['flash_model_code_bytes']:,} B |",
    ]
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
