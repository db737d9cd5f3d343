#!/usr/bin/env python3
"""Runs the program and writes what it prints into README.md. Needs Cargo, and no packages."""
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    command = "cargo run --quiet --release -- data/held_out.csv".split()
    said = subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "```text\n" + said + "```\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
