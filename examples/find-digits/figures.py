#!/usr/bin/env python3
"""Runs host program and firmware, measures the integer network with `cargo kiln bench`, and writes the table in README.md and the picture
of what the firmware finds on the first scenes, found.svg. Needs Cargo and QEMU, and no packages."""
import base64
import json
import re
import struct
import subprocess
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
BOARD = "qemu-cortex-m4"
SIZE = 48  # of a scene, in pixels
ZOOM = 4  # of the picture


def cargo(*arguments, folder=HERE):
    return subprocess.run(["cargo", *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def scenes(count):
    """The pixels of the first scenes, as `train.py` draws them."""
    images = (HERE / "../digits/data/images.bin").read_bytes()
    file, drawn = (HERE / "data/scenes.bin").read_bytes(), []
    for _ in range(count):
        pixels = [[0] * SIZE for _ in range(SIZE)]
        for entry in range(file[0]):
            index, left, top, size, bright, _ = struct.unpack_from("<HBBBBH", file, 1 + 8 * entry)
            ink = images[64 * index:64 * index + 64]
            position = [min(max((2 * at + 1) * 64 // size - 8, 0), 112) for at in range(size)]
            for y, v in enumerate(position):
                for x, u in enumerate(position):
                    row = lambda y: ink[8 * y + u // 16] * (16 - u % 16) + ink[8 * y + min(u // 16 + 1, 7)] * (u % 16)
                    both = row(v // 16) * (16 - v % 16) + row(min(v // 16 + 1, 7)) * (v % 16)
                    pixels[top + y][left + x] = max(pixels[top + y][left + x], both * bright // 4096)
        file = file[1 + 8 * file[0]:]
        drawn.append(pixels)
    return drawn


def png(pixels):
    """A grey picture, as an address of its data."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(row) for row in pixels)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(file).decode()


def picture(said):
    """The scenes that the firmware speaks of, with its boxes."""
    found = re.split(r"^scene \d+\n", said, flags=re.M)[1:]
    edge, gap = SIZE * ZOOM, 12
    width = len(found) * (edge + gap) - gap
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {edge}" width="{width}" height="{edge}" '
             f'font-family="sans-serif" font-size="13">']
    for k, (pixels, boxes) in enumerate(zip(scenes(len(found)), found)):
        parts.append(f'<g transform="translate({k * (edge + gap)})"><image width="{edge}" height="{edge}" '
                     f'style="image-rendering: pixelated" href="{png(pixels)}"/>')
        for digit, score, *edges in re.findall(r"^  (\d) \((\S+)\): +(\S+) to +(\S+), +(\S+) to +(\S+)$", boxes, re.M):
            left, right, top, bottom = (float(at) * ZOOM for at in edges)
            # Above the box, or else in it.
            x, y = (left, top - 4) if top > 16 else (left + 4, top + 14)
            parts.append(f'<rect x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" height="{bottom - top:.0f}" '
                         f'fill="none" stroke="#ff9d2e" stroke-width="2"/>'
                         f'<text x="{x:.0f}" y="{y:.0f}" fill="#ff9d2e">{digit} ({score})</text>')
        parts.append("</g>")
    return "\n".join(parts) + "\n</svg>\n"


def main():
    # Both fail where TFLite Micro's outputs give something else.
    measured = cargo("run", "--release", "--quiet", folder=HERE / "host")
    average, precision, recall = {}, {}, {}
    for kind in ["f32", "int8"]:
        numbers = re.search(rf"^{kind}\s+(\S+) %\s+\S+ %\s+(\S+) %\s+(\S+) %$", measured, re.M).groups()
        average[kind], precision[kind], recall[kind] = numbers
    said = cargo("run", "--release", "--quiet", folder=HERE / "firmware" / BOARD)
    (HERE / "found.svg").write_text(picture(said))

    def bench(kind):
        model = HERE / f"models/find_digits_{kind}.tflite"
        return json.loads(cargo("kiln", "bench", str(model), "--on", BOARD, "--json"))

    result = {kind: bench(kind) for kind in ["f32", "int8"]}
    row = lambda name, values, unit: f"| {name} | {values['f32']}{unit} | {values['int8']}{unit} |"
    figure = lambda key: {kind: f"{result[kind][key]:,}" for kind in result}
    lines = [
        "| 400 held-out scenes, 48x48 pixels | float32 | int8 |",
        "|---|--:|--:|",
        row("mean average precision at an overlap of 0.5", average, " %"),
        row("precision of boxes with a score of 0.5", precision, " %"),
        row("recall of boxes with a score of 0.5", recall, " %"),
        row(f"estimated cycles of the network on `{BOARD}`", figure("cycles_estimated"), ""),
        row("RAM: arena", figure("arena_bytes"), " B"),
        row("peak stack", figure("stack_bytes"), " B"),
        row("weights in flash", figure("flash_weights_bytes"), " B"),
        row("the model's code in flash", figure("flash_model_code_bytes"), " B"),
    ]
    path = HERE / "README.md"
    begin, end = "<!-- figures: begin -->\n", "<!-- figures: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
