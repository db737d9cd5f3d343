#!/usr/bin/env python3
"""Audio features as librosa, torchaudio (also its Kaldi), TensorFlow (also TensorFlow Lite's microfrontend) and python_speech_features compute them.

    python3.11 -m venv venv
    venv/bin/pip install librosa==0.11.0 torch==2.11.0 torchaudio==2.11.0 python_speech_features==0.6 tensorflow-cpu==2.21.0 pymicro-features==2.0.2 tflite-micro==0.dev20261023182759
    venv/bin/python make_features.py

writes features/cases.json, whose cases each have a `spec` in the form that kiln::features! takes, and features/golden.npz: `signal`, samples of i16, and
for each case `case_<n>`, the first frames of the signal and one in its middle: those that `frames` of the case names. With arguments, only the cases of those packages are made
anew, for which not all packages have to be in one environment.
"""
import json
import os
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "features"
FRAMES = [0, 1, 2, 7]
COUNT = 9000


def sound():
    """Tones that glide, over noise that is not white."""
    random = np.random.default_rng(25)
    t = np.arange(COUNT) / 16000
    glide = np.sin(2 * np.pi * (150 * t + 2500 * t * t)) + 0.5 * np.sin(2 * np.pi * (4200 * t - 3000 * t * t))
    noise = np.convolve(random.normal(size=COUNT), [1, 0.7, 0.3], "same")
    return np.round(9000 * glide * (0.3 + t) + 700 * noise + 90).astype(np.int16)


def value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)


def librosa_features(x, rate, spec):
    import librosa

    n_fft, win = spec.get("n_fft", 2048), spec.get("win_length")
    own = dict(
        sr=rate, n_fft=n_fft, hop_length=spec.get("hop", 512), win_length=win, center=spec.get("center", True),
        pad_mode=spec.get("pad_mode", "constant"), power=float(spec.get("power", 2)),
    )
    name = {"rectangular": "boxcar"}.get(spec.get("window", "hann"), spec.get("window", "hann"))
    length = win or n_fft
    own["window"] = librosa.filters.get_window(name, length, fftbins=spec.get("periodic", True))
    if spec.get("output") == "spectrum":
        stft = {key: given for key, given in own.items() if key not in ("sr", "power")}
        s = np.abs(librosa.stft(x, **stft)) ** own["power"]
    else:
        norm = {"slaney": "slaney", "none": None}[spec.get("mel_norm", "slaney")]
        s = librosa.feature.melspectrogram(
            y=x, n_mels=spec.get("n_mels", 128), fmin=spec.get("f_min", 0.0), fmax=spec.get("f_max"),
            htk=spec.get("mel_scale") == "htk", norm=norm, **own,
        )
    mfcc = spec.get("output") == "mfcc" or "n_mfcc" in spec
    log = spec.get("log", "db" if mfcc else "none")
    if log == "db" and own["power"] == 1:
        s = librosa.amplitude_to_db(s, ref=1.0, amin=spec.get("log_floor", 1e-5), top_db=None)
    elif log == "db":
        s = librosa.power_to_db(s, ref=1.0, amin=spec.get("log_floor", 1e-10), top_db=None)
    elif log == "natural":
        s = np.log(np.maximum(s + spec.get("log_offset", 0.0), spec.get("log_floor", 0.0)))
    elif log == "log10":
        s = np.log10(np.maximum(s + spec.get("log_offset", 0.0), spec.get("log_floor", 0.0)))
    elif log == "pcen":
        own = {key[5:]: given for key, given in spec.items() if key.startswith("pcen_")}
        s = librosa.pcen(s, sr=rate, hop_length=spec.get("hop", 512), **own)
    if mfcc:
        s = librosa.feature.mfcc(S=s, n_mfcc=spec.get("n_mfcc", 20), lifter=spec.get("lifter", 0))
    delta = lambda order: librosa.feature.delta(s, width=spec.get("delta_width", 9), order=order, mode="nearest")
    return np.concatenate([s] + [delta(order) for order in range(1, spec.get("deltas", 0) + 1)]).T


def torchaudio_features(x, rate, spec):
    import torch
    import torchaudio

    s = [torchaudio_base(x, rate, spec).T]
    for _ in range(spec.get("deltas", 0)):
        s.append(torchaudio.functional.compute_deltas(torch.from_numpy(s[-1].copy()), spec.get("delta_width", 5)).numpy())
    return np.concatenate(s).T


def torchaudio_base(x, rate, spec):
    import torch
    import torchaudio

    windows = {"hann": torch.hann_window, "hamming": torch.hamming_window, "blackman": torch.blackman_window}
    make = windows.get(spec.get("window", "hann"), lambda n, **_: torch.ones(n))
    n_fft = spec.get("n_fft", 400)
    win = spec.get("win_length", n_fft)
    normalized = spec.get("normalized", "none")
    own = dict(
        n_fft=n_fft, win_length=win, hop_length=spec.get("hop", win // 2), power=float(spec.get("power", 2)),
        window_fn=lambda n: make(n, periodic=spec.get("periodic", True)), center=spec.get("center", True),
        pad_mode=spec.get("pad_mode", "reflect"), normalized=False if normalized == "none" else normalized,
    )
    mel = dict(
        n_mels=spec.get("n_mels", 128), f_min=float(spec.get("f_min", 0)), f_max=spec.get("f_max"),
        norm="slaney" if spec.get("mel_norm") == "slaney" else None, mel_scale=spec.get("mel_scale", "htk"),
    )
    x = torch.from_numpy(x)
    if spec.get("preemphasis"):
        x = torchaudio.functional.preemphasis(x, spec["preemphasis"])
    log = spec.get("log")
    if "n_mfcc" in spec or spec.get("output") == "mfcc":
        mfcc = torchaudio.transforms.MFCC(rate, spec.get("n_mfcc", 40), log_mels=log == "natural", melkwargs={**own, **mel})
        mfcc.amplitude_to_DB.top_db = None
        return mfcc(x).numpy().T
    if spec.get("output") == "spectrum":
        s = torchaudio.transforms.Spectrogram(**own)(x)
    else:
        s = torchaudio.transforms.MelSpectrogram(rate, **own, **mel)(x)
    if log == "db":
        s = torchaudio.transforms.AmplitudeToDB("power" if own["power"] == 2 else "magnitude")(s)
    elif log == "natural":
        s = torch.log(s + spec.get("log_offset", 1e-6))
    return s.numpy().T


def kaldi_features(x, rate, spec):
    """Deltas as Kaldi's `add-deltas` has them (`DeltaFeatures` of feature-functions.cc), which torchaudio does not."""
    s = kaldi_base(x, rate, spec)
    reach = spec.get("delta_width", 5) // 2
    own = np.arange(-reach, reach + 1) / np.sum(np.arange(-reach, reach + 1) ** 2)
    taps, parts = np.ones(1), [s]
    for _ in range(spec.get("deltas", 0)):
        taps = np.convolve(taps, own)
        around = np.arange(len(taps)) - len(taps) // 2
        rows = np.clip(np.arange(len(s))[:, None] + around, 0, len(s) - 1)
        parts.append(np.einsum("k,tkf->tf", taps, s[rows]))
    return np.concatenate(parts, 1)


def kaldi_base(x, rate, spec):
    import torch
    import torchaudio.compliance.kaldi as kaldi

    x = torch.from_numpy(x)[None]
    ms = lambda key, default: spec[key] * 1000 / rate if key in spec else default
    own = dict(
        sample_frequency=float(rate), frame_length=ms("win_length", 25.0), frame_shift=ms("hop", 10.0),
        window_type={"hann": "hanning"}.get(spec.get("window", "povey"), spec.get("window", "povey")),
        remove_dc_offset=spec.get("remove_dc", True), preemphasis_coefficient=spec.get("preemphasis", 0.97),
        use_energy=spec.get("energy", False), num_mel_bins=spec.get("n_mels", 23), low_freq=float(spec.get("f_min", 20)),
        high_freq=float(spec.get("f_max", 0)), round_to_power_of_two="n_fft" not in spec, dither=0.0,
    )
    if "n_mfcc" in spec or spec.get("output") == "mfcc":
        return kaldi.mfcc(x, num_ceps=spec.get("n_mfcc", 13), cepstral_lifter=spec.get("lifter", 22.0), **own).numpy()
    return kaldi.fbank(x, use_log_fbank=spec.get("log", "natural") != "none", use_power=spec.get("power", 2) == 2, **own).numpy()


def tensorflow_features(x, rate, spec):
    import tensorflow as tf

    windows = {"hann": tf.signal.hann_window, "hamming": tf.signal.hamming_window}
    make = windows.get(spec.get("window", "hann"), lambda n, dtype: tf.ones(n, dtype))
    window = lambda n, dtype: make(n, periodic=spec.get("periodic", True), dtype=dtype) if "window" not in spec or spec["window"] in windows else make(n, dtype)
    s = tf.abs(tf.signal.stft(x, spec["win_length"], spec["hop"], spec.get("n_fft"), window))
    if spec.get("power") == 2:
        s = s ** 2
    if spec.get("output") != "spectrum":
        weights = tf.signal.linear_to_mel_weight_matrix(
            spec.get("n_mels", 20), s.shape[-1], rate, float(spec.get("f_min", 125)), float(spec.get("f_max", 3800)))
        s = tf.tensordot(s, weights, 1)
    mfcc = "n_mfcc" in spec
    if spec.get("log", "natural" if mfcc else "none") == "natural":
        s = tf.math.log(s + spec.get("log_offset", 1e-6))
    if mfcc:
        s = tf.signal.mfccs_from_log_mel_spectrograms(s)[..., :spec["n_mfcc"]]
    return s.numpy()


def psf_features(x, rate, spec):
    import python_speech_features as psf

    s = [psf_base(x, rate, spec)]
    for _ in range(spec.get("deltas", 0)):
        s.append(psf.delta(s[-1], spec.get("delta_width", 5) // 2))
    return np.concatenate(s, 1)


def psf_base(x, rate, spec):
    import python_speech_features as psf

    windows = {"hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "rectangular": lambda n: np.ones(n)}
    win = spec["win_length"] / rate if "win_length" in spec else 0.025
    hop = spec["hop"] / rate if "hop" in spec else 0.01
    own = dict(
        samplerate=rate, winlen=win, winstep=hop, nfilt=spec.get("n_mels", 26), lowfreq=spec.get("f_min", 0),
        highfreq=spec.get("f_max"), preemph=spec.get("preemphasis", 0.97), winfunc=windows[spec.get("window", "rectangular")],
    )
    own["nfft"] = spec.get("n_fft", 512)
    if "n_mfcc" in spec or spec.get("output") == "mfcc":
        return psf.mfcc(x, numcep=spec.get("n_mfcc", 13), ceplifter=spec.get("lifter", 22), appendEnergy=spec.get("energy", True), **own)
    if spec.get("log") == "none":
        return psf.fbank(x, **own)[0]
    own.pop("winfunc")
    return psf.logfbank(x, **own)


def tflm_features(x, rate, spec):
    from tflite_micro import runtime

    # Of tensorflow/lite/micro/examples/micro_speech/models, in the folder that the variable names.
    name = {"i8": "audio_preprocessor_int8.tflite", "f32": "audio_preprocessor_float.tflite"}[spec["values"]]
    interpreter = runtime.Interpreter.from_file(os.path.join(os.environ["MICRO_SPEECH_MODELS"], name))
    rows = []
    for at in range(0, len(x) - 479, 320):
        interpreter.set_input(np.round(x[at:at + 480]).astype(np.int16)[None], 0)
        interpreter.invoke()
        rows.append(interpreter.get_output(0).reshape(-1).copy())
    return np.array(rows)


def microfrontend_features(x, rate, spec):
    x = np.round(x).astype(np.int16)
    import tensorflow as tf
    from tensorflow.lite.experimental.microfrontend.python.ops import audio_microfrontend_op

    ms = lambda key, default: round(spec[key] * 1000 / rate) if key in spec else default
    rows = audio_microfrontend_op.audio_microfrontend(
        tf.constant(x), sample_rate=rate, window_size=ms("win_length", 30), window_step=ms("hop", 10),
        num_channels=spec.get("n_mels", 40), lower_band_limit=spec.get("f_min", 125.0), upper_band_limit=spec.get("f_max", 7500.0),
        even_smoothing=spec.get("even_smoothing", 0.025), odd_smoothing=spec.get("odd_smoothing", 0.06),
        min_signal_remaining=spec.get("min_signal_remaining", 0.05), enable_pcan=spec.get("pcan", True),
        pcan_strength=spec.get("pcan_strength", 0.95), pcan_offset=spec.get("pcan_offset", 80.0),
        gain_bits=spec.get("pcan_gain_bits", 21), enable_log=True, scale_shift=6, out_type=tf.uint16,
    ).numpy().astype(np.int32)
    if spec.get("values") == "i8":
        # As ESPHome gives them to a model.
        return np.clip((rows * 256 + 333) // 666 - 128, -128, 127)
    return rows


def pymicro_features(x, rate, spec):
    from pymicro_features import MicroFrontend

    x = np.round(x).astype(np.int16)
    micro, rows = MicroFrontend(), []
    for at in range(0, len(x) - 159, 160):
        row = micro.process_samples(x[at:at + 160].tobytes()).features
        rows += [row] if row else []
    return np.array(rows)


PACKAGES = {
    "librosa": librosa_features,
    "torchaudio": torchaudio_features,
    "kaldi": kaldi_features,
    "tf.signal": tensorflow_features,
    "python_speech_features": psf_features,
    "tflm": tflm_features,
    "microfrontend": microfrontend_features,
    "pymicro_features": pymicro_features,
}

SPECS = {
    "librosa": [
        dict(sample_rate=22050),
        dict(output="mfcc", sample_rate=22050),
        dict(n_fft=512, hop=160, n_mels=40),
        dict(n_fft=512, hop=160, n_mels=40, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, log="natural", log_offset=1e-6),
        dict(n_fft=512, hop=160, n_mels=40, log="log10", log_floor=1e-10),
        dict(n_fft=512, hop=160, n_mels=40, log="db", center=False),
        dict(n_fft=512, hop=160, n_mels=40, log="db", pad_mode="reflect"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="db"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="db", center=False),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="db", pad_mode="reflect"),
        dict(n_fft=512, win_length=480, hop=320, n_mels=40, window="hamming", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, window="blackman", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, window="rectangular", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, periodic=False, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, mel_scale="htk", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, mel_scale="htk", mel_norm="none", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, mel_norm="none"),
        dict(n_fft=512, hop=160, n_mels=64, f_min=60.0, f_max=7600.0, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, power=1),
        dict(n_fft=512, hop=160, n_mels=40, power=1, log="db"),
        dict(n_fft=1024, hop=256, n_mels=64, log="db"),
        dict(n_fft=640, hop=320, n_mels=40, log="db"),
        dict(n_fft=400, hop=160, n_mels=80, log="log10", log_floor=1e-10, pad_mode="reflect"),
        dict(n_fft=256, hop=64, output="spectrum"),
        dict(n_fft=256, hop=64, output="spectrum", power=1, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=13),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=13, lifter=22),
        dict(n_fft=512, hop=800, n_mels=20, n_mfcc=20, f_min=20.0, f_max=4000.0),
        dict(n_fft=512, hop=160, n_mels=40, log="db", deltas=1),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=13, deltas=2),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=13, deltas=2, delta_width=5),
        dict(n_fft=512, hop=160, n_mels=40, log="pcen"),
        dict(n_fft=512, hop=160, n_mels=40, power=1, full_scale=2.0**31, log="pcen"),
        dict(n_fft=512, hop=160, n_mels=40, power=1, full_scale=2.0**31, log="pcen", pcen_gain=0.8, pcen_bias=10.0, pcen_power=0.25, pcen_time_constant=0.06, pcen_eps=1e-3),
        dict(n_fft=512, hop=160, n_mels=40, log="pcen", full_scale=32768.0, pcen_power=0.0, pcen_b=0.025),
        dict(n_fft=512, hop=160, n_mels=40, log="pcen", full_scale=32768.0, pcen_power=0.25, pcen_bias=0.0),
    ],
    "torchaudio": [
        dict(),
        dict(output="mfcc"),
        dict(n_fft=512, hop=160, n_mels=40),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="db"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="natural"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, log="db", center=False),
        dict(n_fft=512, hop=160, n_mels=40, log="db", pad_mode="constant"),
        dict(n_fft=512, hop=160, n_mels=40, mel_scale="slaney", mel_norm="slaney", log="db"),
        dict(n_fft=512, hop=160, n_mels=40, mel_norm="slaney"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, normalized="window", log="db"),
        dict(n_fft=512, win_length=400, hop=160, n_mels=40, normalized="frame_length"),
        dict(n_fft=512, hop=256, n_mels=64, window="hamming", f_min=50.0, f_max=7000.0, log="db"),
        dict(n_fft=512, hop=256, n_mels=40, window="blackman", periodic=False, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, power=1, log="db"),
        dict(n_fft=512, hop=160, n_mels=40, pad_mode="constant", preemphasis=0.97, log="db"),
        dict(n_fft=256, hop=128, output="spectrum"),
        dict(n_fft=480, hop=160, n_mels=40, n_mfcc=13),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=10, log="natural"),
        dict(n_fft=512, hop=160, n_mels=40, log="db", deltas=1),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=10, log="natural", deltas=2),
        dict(n_fft=512, hop=160, n_mels=40, n_mfcc=10, log="natural", deltas=2, delta_width=3),
    ],
    "kaldi": [
        dict(),
        dict(output="mfcc"),
        dict(n_mels=80),
        dict(n_mels=40, full_scale=1.0),
        dict(n_mels=40, window="hamming"),
        dict(n_mels=40, window="hann", preemphasis=0.0),
        dict(n_mels=40, window="rectangular", remove_dc=False),
        dict(n_mels=40, window="blackman", f_min=60.0, f_max=7600.0),
        dict(n_mels=40, power=1),
        dict(n_mels=40, log="none"),
        dict(n_mels=40, energy=True),
        dict(n_mels=40, win_length=480, hop=320),
        dict(n_mels=40, n_fft=400),
        dict(sample_rate=8000, n_mels=23),
        dict(n_mels=40, n_mfcc=20, lifter=0.0),
        dict(n_mfcc=13, energy=True),
        dict(n_mfcc=13, energy=True, full_scale=1.0),
        dict(n_mfcc=13, deltas=2),
        dict(n_mels=40, energy=True, deltas=1, delta_width=7),
    ],
    "tf.signal": [
        dict(win_length=480, hop=160),
        dict(win_length=480, hop=160, n_mels=40, f_min=20.0, f_max=4000.0, log="natural"),
        dict(win_length=640, hop=320, n_mels=40, f_max=7600.0, log="natural"),
        dict(win_length=256, hop=128, output="spectrum"),
        dict(win_length=255, hop=128, output="spectrum"),
        dict(win_length=400, n_fft=512, hop=160, n_mels=64, power=2, log="natural", log_offset=1e-3),
        dict(win_length=400, n_fft=400, hop=160, n_mels=20),
        dict(win_length=480, hop=320, n_mels=40, window="hamming", log="natural"),
        dict(win_length=480, hop=320, n_mels=40, periodic=False, log="natural"),
        dict(win_length=480, hop=320, n_mels=40, window="rectangular"),
        dict(win_length=1024, hop=256, n_mels=80, f_min=80.0, f_max=7600.0, n_mfcc=13),
        dict(win_length=640, hop=320, n_mels=40, f_min=20.0, f_max=4000.0, n_mfcc=10),
    ],
    "python_speech_features": [
        dict(),
        dict(output="mfcc"),
        dict(log="none"),
        dict(n_mels=40, n_fft=512),
        dict(n_mels=40, n_fft=512, preemphasis=0.0),
        dict(n_mels=20, f_min=300, f_max=6000, win_length=480, hop=320),
        dict(n_mfcc=13, window="hamming"),
        dict(n_mfcc=13, window="hann", energy=False),
        dict(n_mfcc=20, n_mels=40, lifter=0),
        dict(sample_rate=8000, n_mfcc=13),
        dict(log="none", full_scale=1.0),
        dict(n_mels=32, n_fft=1024, win_length=800, hop=400),
        dict(n_mfcc=13, deltas=1),
        dict(n_mfcc=13, deltas=2),
    ],
    "tflm": [
        dict(values="i8"),
        dict(values="f32"),
    ],
    "microfrontend": [
        dict(),
        dict(values="i8"),
        dict(win_length=400, hop=160, n_mels=32),
        dict(n_mels=64, f_min=20.0, f_max=7999.0),
        dict(n_mels=16, f_min=300.0, f_max=3400.0),
        dict(sample_rate=8000, n_mels=23, f_max=3800.0),
        dict(sample_rate=48000, win_length=960, hop=960, f_max=12000.0),
        dict(even_smoothing=0.1, odd_smoothing=0.2, min_signal_remaining=0.2),
        dict(pcan=False),
        dict(pcan_strength=0.7, pcan_offset=20.0, pcan_gain_bits=20),
    ],
    "pymicro_features": [
        dict(values="f32"),
    ],
}

INTEGERS = ("tflm", "microfrontend", "pymicro_features")


def frames_of(like):
    """The estimate of noise goes on from frame to frame."""
    return list(range(24)) if like in INTEGERS else FRAMES


def main(packages):
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / "golden.npz"
    made = {}
    if file.exists():
        arrays = np.load(file)
        for at, case in enumerate(json.loads((FOLDER / "cases.json").read_text())):
            made[case["spec"]] = arrays[f"case_{at}"]
    signal = sound()
    cases, golden = [], {"signal": signal}
    for like, specs in SPECS.items():
        for spec in specs:
            rate = spec.get("sample_rate", 16000)
            spec = {"like": like, "sample_rate": rate, **spec}
            text = ", ".join(f"{key} = {value(given)}" for key, given in spec.items())
            name = f"case_{len(cases)}"
            if not packages or like in packages:
                default = 32768.0 if like in ("kaldi", "python_speech_features", *INTEGERS) else 1.0
                x = (signal * (spec.get("full_scale", default) / 32768)).astype(np.float32)
                features = np.asarray(PACKAGES[like](x, rate, spec), np.float32)
                frames = [frame for frame in frames_of(like) if frame < len(features)]
                made[text] = features[frames]
                print(text, features.shape)
            golden[name] = made[text]
            cases.append({"spec": text, "frames": frames_of(like)[:len(made[text])]})
    np.savez_compressed(file, **golden)
    lines = ",\n".join(json.dumps(case) for case in cases)
    (FOLDER / "cases.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
