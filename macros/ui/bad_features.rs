kiln::features!(pub NoHop = { like = "librosa", sample_rate = 16_000, hop = 0 });
kiln::features!(TooHigh = { like = "torchaudio", sample_rate = 16_000, n_fft = 512, f_max = 8001.0 });
kiln::features!(TooMany = { like = "kaldi", sample_rate = 16_000, n_mels = 400 });
kiln::features!(Unknown = { like = "librosa", sample_rate = 16_000, hop_length = 160 });
kiln::features!(NobodyIs = { like = "numpy", sample_rate = 16_000 });
kiln::features!(NoRate = { like = "librosa", n_fft = 512 });
kiln::features!(NoDefault = { like = "tf.signal", sample_rate = 16_000, win_length = 480 });
kiln::features!(NoBraces = "librosa");
kiln::features!(Negative = { like = "librosa", sample_rate = 16_000, f_min = -1.0 });

fn main() {}
