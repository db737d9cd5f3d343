"""Makes vectors.txt: what OpenCV and Pillow make of small frames.

    python3 -m venv venv && venv/bin/pip install opencv-python-headless==5.0.0.* pillow==13.* numpy
    venv/bin/python host-tests/camera/make.py > host-tests/camera/vectors.txt

Frames are noise that `tests/camera.rs` makes, too. Each line is a case, and the hash (FNV-1a, 64 bits) or the bytes of its result:

    like format channels flip frame view size resize result
"""

import cv2
import numpy as np
import PIL
from PIL import Image

BYTES = {"rgb565-le": 2, "rgb565-be": 2, "rgb888": 3, "bgr888": 3, "gray8": 1, "yuyv": 2, "uyvy": 2}
BAYER = ("rggb", "bggr", "grbg", "gbrg")
BYTES |= dict.fromkeys(BAYER, 1)

# Frame, what is seen of it (width, height, left, top), and size of the result.
VIEWS = [
    ((40, 30), (30, 30, 5, 0), (12, 12)),
    ((40, 30), (40, 30, 0, 0), (12, 10)),
    ((40, 30), (31, 17, 4, 5), (13, 7)),
    ((40, 30), (24, 24, 8, 3), (12, 12)),
    ((40, 30), (36, 30, 2, 0), (6, 10)),
    ((40, 30), (20, 15, 10, 8), (32, 20)),
    ((40, 30), (12, 10, 6, 2), (12, 10)),
]
CAMERA = ((320, 240), (240, 240, 40, 0), (96, 96))


def noise(count, seed):
    """The high bits of a linear congruential generator."""
    state, out = seed, bytearray()
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return np.frombuffer(bytes(out), np.uint8)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def demosaiced(frame, kind):
    return cv2.cvtColor(frame, getattr(cv2, f"COLOR_Bayer{kind.upper()}2RGB"))


def opencv(frame, kind, channels):
    if kind in BAYER:
        frame, kind = demosaiced(frame, kind), "rgb888"
    rgb = channels == 3
    codes = {
        "rgb565-le": (cv2.COLOR_BGR5652RGB, cv2.COLOR_BGR5652GRAY),
        "rgb888": (None, cv2.COLOR_RGB2GRAY),
        "bgr888": (cv2.COLOR_BGR2RGB, cv2.COLOR_BGR2GRAY),
        "gray8": (cv2.COLOR_GRAY2RGB, None),
        "yuyv": (cv2.COLOR_YUV2RGB_YUYV, cv2.COLOR_YUV2GRAY_YUYV),
        "uyvy": (cv2.COLOR_YUV2RGB_UYVY, cv2.COLOR_YUV2GRAY_UYVY),
    }
    if kind == "rgb565-be":
        frame, kind = np.ascontiguousarray(frame[..., ::-1]), "rgb565-le"
    code = codes[kind][0 if rgb else 1]
    return frame if code is None else cv2.cvtColor(frame, code)


def pillow(frame, kind, channels):
    height, width, _ = frame.shape
    mode = "RGB" if channels == 3 else "L"
    if kind in BAYER:
        frame, kind = demosaiced(frame, kind), "rgb888"
    if kind == "gray8":
        return Image.fromarray(frame[..., 0], "L").convert(mode)
    if kind.startswith("rgb565"):
        data = frame[..., ::-1] if kind == "rgb565-be" else frame
        return Image.frombytes("RGB", (width, height), data.tobytes(), "raw", "BGR;16").convert(mode)
    if kind in ("rgb888", "bgr888"):
        data = frame[..., ::-1] if kind == "bgr888" else frame
        return Image.fromarray(np.ascontiguousarray(data), "RGB").convert(mode)
    flat = frame.reshape(height, width // 2, 4)
    y, u, v = (0, 1, 3) if kind == "yuyv" else (1, 0, 2)
    full = np.stack([frame[..., y], np.repeat(flat[..., u], 2, 1), np.repeat(flat[..., v], 2, 1)], 2)
    return Image.fromarray(full, "YCbCr").convert(mode)


def made(like, kind, channels, flip, frame, view, size, resize):
    (width, height), (w, h, x, y) = frame, view
    data = noise(width * height * BYTES[kind], width + BYTES[kind]).reshape(height, width, BYTES[kind])
    if like == "opencv":
        image = opencv(data, kind, channels)[y : y + h, x : x + w]
        how = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA}
        image = cv2.resize(image, size, interpolation=how[resize])
        return (cv2.flip(image, 1) if flip else image).tobytes()
    image = pillow(data, kind, channels).crop((x, y, x + w, y + h))
    how = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "area": Image.BOX}
    image = image.resize(size, how[resize])
    return (image.transpose(Image.FLIP_LEFT_RIGHT) if flip else image).tobytes()


def case(like, kind, channels, flip, frame, view, size, resize):
    shrinks = view[0] >= size[0] and view[1] >= size[1]
    if resize == "area" and like == "opencv" and not shrinks:
        return
    result = made(like, kind, channels, flip, frame, view, size, resize)
    # What OpenCV computes in floats may differ by a step, so its bytes are needed: of a few cases.
    floats = resize == "area" and like == "opencv" and (view[0] % size[0] or view[1] % size[1])
    if floats and (frame[0] > 40 or kind not in ("rgb888", "rgb565-be") and (flip or view != VIEWS[0][1])):
        return
    result = "=" + result.hex() if floats else fnv(result)
    name = lambda sizes: "x".join(map(str, sizes[:2])) + "".join(f"+{at}" for at in sizes[2:])
    print(like, kind, channels, "flip" if flip else "-", name(frame), name(view), name(size), resize, result)


print(f"# Made by make.py with OpenCV {cv2.__version__} and Pillow {PIL.__version__}")
for like in ("opencv", "pillow"):
    for kind in BYTES:
        for channels in (1, 3):
            for resize in ("nearest", "bilinear", "area"):
                few = kind in BAYER[1:]
                for number, (frame, view, size) in enumerate(VIEWS[: 2 if few else None]):
                    for flip in (False, True)[: 2 if number in (0, 2) else 1]:
                        case(like, kind, channels, flip, frame, view, size, resize)
                if kind == "rgb565-be":
                    case(like, kind, channels, False, *CAMERA, resize)
