#!/usr/bin/env python3
"""Makes the speech of this example: synthesised by espeak-ng, with noise and rooms computed here.

    apt-get install espeak-ng=1.51+dfsg-10+deb12u2            # Debian 12
    python3.11 -m venv venv
    venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    venv/bin/python data.py FOLDER                            # the held-out set and the committed clips

    FOLDER/held-out/hey_kiln    recordings of 2.4 s with the wake word
    FOLDER/held-out/alike       recordings of 2.4 s with something that sounds alike
    FOLDER/held-out/other       recordings of 6 s of other speech, an hour in all
    clips/                      short recordings of the held-out voices, which the tests and the firmware read

All are WAV files of 16 kHz, one channel, 16 bits. Voices are espeak-ng's accents of English with its variants. Each variant is in one of three sets:
training, validation (which compares thresholds) and held out. Nobody in the held-out set was heard in training, and nor were some of its words.
Most voices of training are random variants, and some are those of other languages. Other versions of espeak-ng sound different.
"""
import ctypes
import re
import subprocess
import sys
import tempfile
import wave
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq
from scipy.signal import fftconvolve, resample_poly

HERE = Path(__file__).resolve().parent
RATE = 16_000
SEED = 25
# The word has to fit into the network's window.
LONGEST = 0.95

HELD_OUT = "held-out"
# Names as the program espeak-ng takes them, and as its library does. Two accents are held out.
HELD_OUT_ACCENTS = "en-gb en-us en-029 en-gb-scotland en-gb-x-rp en-us-nyc en-gb-x-gbclan en-gb-x-gbcwmd".split()
ACCENTS = "gmw/en gmw/en-US gmw/en-029 gmw/en-GB-scotland gmw/en-GB-x-rp gmw/en-US-nyc".split()
# Voices of other languages, for training, and how to write the wake word for them.
FOREIGN = dict(de="hej kiln", nl="hee kiln", fi="hei kiln", pl="hej kyln", cs="hej kiln", hu="héj kiln", ro="hei chiln", sk="hej kiln", hr="hej kiln", cy="hei ciln", et="hei kiln", tr="hey kiln", id="hei kiln")
VARIANTS = {
    "training": "m1 m2 m4 m5 m7 m8 f1 f2 f4 f5 klatt klatt2 klatt5 croak Alex Andy Annie Gene Lee Michael Mike adam anika antonio aunty "
                "belinda benjamin boris caleb ed edward grandma grandpa iven iven2 linda marcelo max miguel norbert pablo pedro quincy rob "
                "sandro steph steph2 travis victor zac".split(),
    "validation": "Alicia Denis Hugo iven3 michel paul".split(),
    "held-out": "m3 m6 f3 klatt3 klatt4 david john Jacky Diogo Henrique Marco robert shelby steph3 gustave Gene2 Nguyen edward2".split(),
}

WAKE_WORDS = ["hey kiln", "hey kiln.", "hey kiln!", "hey kiln?"]
# They sound like the wake word, or contain a part of it. The wake word is both words: "kiln" alone is none.
ALIKE = """hey kim|hey killer|they kill|a kiln|hey bill|hey kyle|hey can|say kiln|hey|kiln|the kiln|hey ken|hey kin|hey kid|hey kids|hey carl|hey film|hey milk
hey will|hey colin|hey karen|a killer|hey cold|hey king|hey kit|hey keen|hey gill|hey ellen|hey kellen|hey phil|hey dylan|hey bill and|okay kiln|play kiln
they killed|hay bale|a kilt|hey guys|hey clean|hey come|hey cool|hey there|hey you|hey siri|hey google|hey key|hey kitty|hey skill|may kill|day care|a kill
he killed|hey call|hey cal|hey kelly|hey, kick it|hey coil|hey kinder|he can|hey calm|my kiln|old kiln|brick kiln|kill|kilometer|hey chill|hey hill|hey till
say kiln|they kiln|day kiln|may kiln|way kiln|hi kiln|he kiln|big kiln|kiln hey|hey hey|hey kill|hey kilt|hey kelp|hey kink|pay kiln|hey kindly|ache in|eight killed|hey build|hey built|hey gold|hey quill|hey lynn|hey clint|hey glen|pay bill|hey helen|hey kennel|hey kernel|hey tim|hey jim"""
# As they are in the held-out set only.
ALIKE_NEW = """hey kingdom|hey kettle|hey killing|weigh kilns|hey kilo|hey gillian|hey kirk|hey ginn|they can|hey, can you|hey pill|lay a kiln|hey crystal|hay kills
grey kilt|hey kip|hey culture|hey skin|hate killing|a clean|hey kenneth|hey column"""
ALIKE, ALIKE_NEW = (text.replace("\n", "|").split("|") for text in (ALIKE, ALIKE_NEW))
# Two syllables as espeak-ng's phonemes, for training; and those of the wake word.
FIRST = "h'eI h'eI h'eI h'eI h'eI heI D'eI s'eI m'eI w'eI d'eI p'eI h'aI h'i: @ oUk'eI".split()
ONSETS = ", k k k g t p b d h f s m sk kl kr kw w l n tS r".replace(",", "").split(" ")
VOWELS = "I I I E i: a aI oU eI V U u: O: aU".split()
CODAS = ", l n m N p t d k s lt lk ld lz lm nd f st".replace(",", "").split(" ")
OWN = ["h'eI", "k", "I", "ln"]

COMMON = """the a to of and in is it you that he was for on are with his they be at one have this from or had by but what some we can out other were all there
when up use your how said an each she which do their if will way about many then them so these her would make like him into time has look more go see no not"""
WORDS = """people water little work part place year live back give most good man think say great where help through line right too mean old same tell boy follow
came want show form three small set put end does another well large must big even such because turn here why ask went men read need land different home us move
try kind hand picture again change off play spell air away animal house point page letter mother answer found study still learn should world high every near add
food between own below country plant last school father keep tree never start city earth eye light thought head under story saw left few while along might close
something seem next hard open example begin life always those both paper together got group often run important until children side feet car mile night walk white
sea began grow took river four carry state once book hear stop without second late miss idea enough eat face watch far really almost let above girl sometimes
mountain cut young talk soon list song being leave family body music color stand sun question fish area mark dog horse birds problem complete room knew since ever
piece told usually friends easy heard order red door sure become top ship across today during short better best however low hours black products happened whole
measure remember early waves reached listen wind rock space covered fast several hold himself toward five step morning passed vowel true hundred against pattern
numeral table north slowly money map farm pulled draw voice cold cried plan notice south sing war ground fall king town unit figure certain field travel wood fire
upon kitchen killing building milk silk film guild skilled window coffee tea minute tomorrow weather oven clay pottery brick glaze temperature degrees timer lamp
bedroom garden volume louder quiet please thanks hello goodbye okay yes maybe never yellow seven eleven thirteen twenty ninety thousand million Monday Friday
January October Peter Susan Alan Kevin Ian Karen London Paris holiday ticket station train flight doctor breakfast dinner supper recipe sugar butter bread cheese
apple orange lemon potato carrot chicken salad soup bottle glass plate knife spoon computer phone battery charger screen keyboard message email meeting office""".split()


def trimmed(samples):
    """16 kHz of 22,050 Hz, without the silence around it, its largest sample 1; None where the voice says nothing."""
    samples = resample_poly(samples.astype(np.float32), 320, 441).astype(np.float32)
    loud = np.abs(samples)
    if not len(loud) or loud.max() < 100:
        return None
    heard = np.flatnonzero(loud > 0.015 * loud.max())
    return samples[heard[0]:heard[-1] + 1] / loud.max()


def spoken(text, voice, speed, pitch):
    """Speech by the program."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    data = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    # The header of 44 bytes does not know the length.
    return trimmed(np.frombuffer(data[44:], "<i2"))


def random_voice(rng):
    """A voice file: another throat, which the formants' frequencies, heights and widths are in percent of espeak-ng's own, and another way to speak."""
    low, throat = rng.uniform(60, 240), rng.uniform(0.86, 1.2)
    lines = ["language variant", f"pitch {low:.0f} {low * rng.uniform(1.1, 1.8):.0f}"]
    heights, widths = rng.uniform(50, 120), rng.uniform(60, 150)
    for formant in range(9):
        frequency = 100 * throat * rng.normal(1, 0.06) if formant else rng.uniform(80, 130)
        height = np.clip(heights * rng.normal(1, 0.2), 15, 170) if formant else rng.uniform(80, 140)
        lines.append(f"formant {formant} {frequency:.0f} {height:.0f} {np.clip(widths * rng.normal(1, 0.2), 30, 180):.0f}")
    often = lambda share: rng.random() < share
    if often(0.25):
        lines.append(f"klatt {rng.integers(1, 7)}")
    if often(0.5):
        lines.append(f"voicing {rng.integers(30, 140)}")
    if often(0.5):
        lines.append(f"consonants {rng.integers(30, 150)} {rng.integers(40, 130)}")
    if often(0.3):
        lines.append(f"roughness {rng.integers(0, 7)}")
    if often(0.3):
        lines.append(f"flutter {rng.integers(0, 25)}")
    if often(0.3):
        lines.append("breath " + " ".join(str(rng.integers(0, 6)) for _ in range(8)))
    if often(0.25):
        lines.append(f"echo {rng.integers(20, 150)} {rng.integers(2, 15)}")
    if often(0.3):
        lines.append(f"intonation {rng.integers(1, 5)}")
    if often(0.3):
        lines.append("stressAdd " + " ".join(str(rng.integers(-30, 40)) for _ in range(8)))
    if often(0.4):
        lines.append("tone " + " ".join(f"{frequency} {rng.integers(40, 255)}" for frequency in (100, 600, 1200, 2000, 3000)))
    return "\n".join(lines) + "\n"


class Library:
    """espeak-ng in this process, which takes a tenth of the time. A voice may sound a little different each time."""

    def __init__(self):
        said = subprocess.run(["espeak-ng", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
        installed = Path(re.search(r"Data at: (.*)", said).group(1))
        self.folder = tempfile.TemporaryDirectory()
        data = Path(self.folder.name) / "espeak-ng-data"
        (data / "voices/!v").mkdir(parents=True)
        for folder in ["", "voices", "voices/!v"]:
            for path in (installed / folder).iterdir():
                if not (data / folder / path.name).exists():
                    (data / folder / path.name).symlink_to(path)
        self.random = data / "voices/!v/random"
        self.random.touch()
        self.library, self.parts = ctypes.CDLL("libespeak-ng.so.1"), []
        self.heard = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)(self.hear)
        # Samples to a function, not to a loudspeaker.
        assert self.library.espeak_Initialize(2, 0, str(data.parent).encode(), 0) == 22_050
        self.library.espeak_SetSynthCallback(self.heard)

    def hear(self, samples, count, _events):
        if samples and count > 0:
            self.parts.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    def say(self, text, voice, speed, pitch, intonation):
        self.parts.clear()
        if self.library.espeak_SetVoiceByName(voice.encode()):
            raise ValueError(voice)
        for number, value in [(1, speed), (3, pitch), (4, intonation)]:
            self.library.espeak_SetParameter(number, value, 0)
        text = text.encode() + b"\0"
        # The text may have phonemes in it.
        self.library.espeak_Synth(text, len(text), 0, 0, 0, 0x101, None, None)
        return trimmed(np.concatenate(self.parts)) if self.parts else None


LIBRARY = lru_cache(maxsize=None)(Library)


class Speaker:
    """What the voices of one set say. The same seed says the same."""

    def __init__(self, split, seed):
        self.split, self.rng = split, np.random.default_rng([SEED, seed])

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def once(self, text):
        rng = self.rng
        accent, variant = self.pick(HELD_OUT_ACCENTS if self.split == HELD_OUT else ACCENTS), self.pick(VARIANTS[self.split])
        if self.split == HELD_OUT:
            return spoken(text, f"{accent}+{variant}", int(rng.integers(125, 216)), int(rng.integers(15, 86)))
        if self.split == "validation":
            return LIBRARY().say(text, f"{accent}+{variant}", int(rng.integers(125, 216)), int(rng.integers(15, 86)), 50)
        if rng.random() < 0.7:
            variant = "random"
            LIBRARY().random.write_text(random_voice(rng))
        if rng.random() < 0.1:
            accent = self.pick(list(FOREIGN))
            text = FOREIGN[accent] if text in WAKE_WORDS else text
        said = LIBRARY().say(text, f"{accent}+{variant}", int(rng.integers(115, 230)), int(rng.integers(5, 96)), int(rng.integers(20, 81)))
        # Slower or faster, as a tape: other throats again.
        return said if said is None or rng.random() < 0.5 else resample_poly(said, 16, int(rng.integers(14, 20))).astype(np.float32)

    def say(self, text):
        while True:
            said = self.once(text)
            if said is not None:
                return said

    def wake_word(self):
        while True:
            said = self.say(self.pick(WAKE_WORDS))
            if len(said) <= LONGEST * RATE:
                return said

    def syllables(self):
        """Nearly the wake word."""
        while True:
            parts = [own if self.rng.random() < 0.4 else self.pick(values) for own, values in zip(OWN, (FIRST, ONSETS, VOWELS, CODAS))]
            first, onset, vowel, coda = parts
            if parts != OWN and parts != ["heI", *OWN[1:]]:
                return f"[[{first} {onset}'{vowel}{coda}]]"

    def alike(self):
        if self.split == "training" and self.rng.random() < 0.4:
            return self.say(self.syllables())
        return self.say(self.pick(ALIKE + ALIKE_NEW * 2 if self.split == HELD_OUT else ALIKE))

    def sentence(self):
        """Words in no order. Those of the held-out set are every third of the list; training does not know them."""
        mine = [word for k, word in enumerate(WORDS) if (k % 3 == 0) == (self.split == HELD_OUT)]
        words = [self.pick(COMMON.split()) if self.rng.random() < 0.4 else self.pick(mine) for _ in range(int(self.rng.integers(3, 11)))]
        return self.say(" ".join(words))


@lru_cache(maxsize=None)
def shape_of(kind, length):
    frequency = np.maximum(rfftfreq(length, 1 / RATE), 20)
    return {"white": np.ones_like(frequency), "pink": frequency ** -0.5, "brown": 1 / frequency}[kind]


def noise(rng, length, voices):
    """White, pink or brown noise, hum of the mains, or several voices at once; of power 1."""
    kind = ["white", "pink", "pink", "brown", "hum", "babble", "babble"][int(rng.integers(7))]
    if kind == "hum":
        time, base = np.arange(length) / RATE, [50, 60][int(rng.integers(2))] * (1 + 0.002 * rng.standard_normal())
        sound = sum(rng.random() / k * np.sin(2 * np.pi * (k * base * time + rng.random())) for k in range(1, 12))
        sound = sound + 0.05 * rng.standard_normal(length)
    elif kind == "babble":
        sound = np.zeros(length)
        for _ in range(int(rng.integers(3, 7))):
            at = 0
            while at < length:
                voice = voices[int(rng.integers(len(voices)))]
                part = voice[:length - at]
                sound[at:at + len(part)] += part * rng.uniform(0.4, 1)
                at += len(voice) + int(rng.integers(RATE // 2))
    else:
        fast = next_fast_len(length)
        sound = irfft(rfft(rng.standard_normal(fast)) * shape_of(kind, fast), fast)[:length]
    return (sound / np.sqrt(np.mean(sound ** 2) + 1e-12)).astype(np.float32)


def in_room(rng, sound):
    """The sound in a room: an echo of noise that fades by 60 dB in 0.1 to 0.6 s, 0 to 15 dB below the sound itself."""
    fading = rng.uniform(0.1, 0.6)
    length = int(fading * RATE)
    echo = rng.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    echo[:int(rng.uniform(0.001, 0.01) * RATE)] = 0
    echo *= np.sqrt(10 ** (-rng.uniform(0, 15) / 10) / np.sum(echo ** 2))
    echo[0] = 1
    return fftconvolve(sound, echo)[:len(sound)].astype(np.float32)


def recorded(rng, sound, voices, quietest):
    """Speech as a microphone has it: in a room, with noise `quietest` to 35 dB below it, more or less loud. Floats, within -1 to 1."""
    power = np.mean(sound[np.abs(sound) > 0.02] ** 2) if np.any(sound) else 0.02
    if rng.random() < 0.7:
        sound = in_room(rng, sound)
    sound = sound + noise(rng, len(sound), voices) * np.sqrt(power * 10 ** (-rng.uniform(quietest, 35) / 10))
    loud = 10 ** (rng.uniform(-36, -14) / 20) / np.sqrt(power)
    return np.clip(sound * loud, -1, 1).astype(np.float32)


def stream(rng, parts, length, end=None):
    """Parts one behind the other, 0.02 to 0.7 s between them. The first of `parts` ends at sample `end`, or begins anywhere; what follows, follows."""
    sound = np.zeros(length, np.float32)
    at = end - len(parts[0]) if end is not None else int(rng.integers(RATE // 3))
    for part in parts:
        first, last = max(at, 0), min(at + len(part), length)
        if first < last:
            sound[first:last] = part[first - at:last - at]
        at += len(part) + int(rng.uniform(0.02, 0.7) * RATE)
    return sound


def with_wake_word(rng, word, others, length, end, speech=0.5):
    """A stream in which the wake word ends at sample `end`, often with other speech in front of it and behind it."""
    sound = stream(rng, [word], length, end)
    if rng.random() < speech:
        before = others[int(rng.integers(len(others)))]
        stop = end - len(word) - int(rng.uniform(0.05, 0.5) * RATE)
        if stop > 0:
            sound[max(stop - len(before), 0):stop] = before[max(len(before) - stop, 0):]
    if rng.random() < speech:
        after = others[int(rng.integers(len(others)))]
        start = end + int(rng.uniform(0.08, 0.5) * RATE)
        after = after[:max(length - start, 0)]
        sound[start:start + len(after)] = after
    return sound


def write(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def held_out(folder):
    """500 wake words, 1500 phrases that sound alike, and an hour of other speech."""
    speaker = Speaker(HELD_OUT, 3)
    rng = speaker.rng
    sentences = [speaker.sentence() for _ in range(1000)]
    length = int(2.4 * RATE)
    for kind, count in [("hey_kiln", 500), ("alike", 1500)]:
        for k in range(count):
            said = speaker.wake_word() if kind == "hey_kiln" else speaker.alike()
            sound = with_wake_word(rng, said, sentences, length, int(rng.uniform(1.5, 1.9) * RATE))
            write(folder / f"{kind}/{k:04}.wav", recorded(rng, sound, sentences, 5))
    for k in range(600):
        parts = [sentences[int(rng.integers(len(sentences)))] for _ in range(4)]
        write(folder / f"other/{k:04}.wav", recorded(rng, stream(rng, parts, 6 * RATE), sentences, 5))


def clips(folder):
    """Six wake words and six others, of 1.44 s."""
    speaker = Speaker(HELD_OUT, 4)
    rng = speaker.rng
    sentences = [speaker.sentence() for _ in range(30)]
    length, end = int(1.44 * RATE), int(1.2 * RATE)
    for k in range(6):
        write(folder / f"hey_kiln/{k}.wav", recorded(rng, with_wake_word(rng, speaker.wake_word(), sentences, length, end, 0.3), sentences, 10))
    for k, text in enumerate(["hey kim", "hey killer", "they kill", "a kiln", "hey bill", "play the song again"]):
        said = speaker.say(text)
        write(folder / f"other/{k}.wav", recorded(rng, stream(rng, [said], length, max(end, len(said))), sentences, 10))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    held_out(Path(sys.argv[1]) / HELD_OUT)
    clips(HERE / "clips")


if __name__ == "__main__":
    main()
