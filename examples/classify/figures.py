#!/usr/bin/env python3
"""Runs the program and writes what it prints into README.md. Needs Cargo, and no packages."""
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(arguments):
    command = "cargo run --quiet --release --".split() + arguments
    return subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    commands = ["data/held_out.csv", "data/held_out.csv --model digits_dense_f32"]
    said = "\n".join(run(arguments.split()) for arguments in commands)
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "```text\n" + said + "```\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
