//! `include_model!`: a model file becomes a type while the crate compiles. `features!`: so does a description of audio features.
//!
//! Used through the `kiln` crate, which re-exports it. The work is done by `kiln_codegen`.

/// Compiles a model into the type of that name.
///
/// ```
/// kiln::include_model!(pub Temporal = "../host-tests/models/tflite/temporal_int8.tflite", ram = "1K");
///
/// const _: () = assert!(Temporal::ARENA_BYTES <= 1024);
///
/// let mut model = Temporal::new();
/// model.input_mut().fill(0);
/// model.invoke();
/// assert_eq!(model.output().len(), 10);
/// ```
///
/// The path is relative to the crate's folder; the crate is rebuilt when the file changes.
///
/// | option | values | |
/// |---|---|---|
/// | `optimize` | `"speed"`, `"size"`, `"memory"` | what to favour: cycles (the default), flash or RAM |
/// | `ram` | `"20K"`, `"20480"` | most bytes of arena and state; the schedule with the fewest predicted cycles that fits is taken |
/// | `cycles` | `"5M"`, `"500K"` | most predicted cycles of an inference; the schedule with the least RAM that takes no more is taken |
/// | `recompute` | `"1.2"` | lets rows be computed again where less RAM is asked for, up to that many times the model's multiply-accumulates |
/// | `fast_ram` | as `ram` | most bytes of a second arena, for fast RAM, see below |
/// | `flash` | as `ram` | most bytes of constants |
/// | `input` | `"whole"`, `"rows"`, `"sliding"` | how the input is given, see below |
/// | `source` | `"rgb565 320x240, crop = centre, resize = bilinear"` | the lines of a camera become the input, by `push_line` |
/// | `io` | `"native"`, `"quantized"` | `"quantized"` drops QUANTIZE and DEQUANTIZE at the edges of the model |
/// | `reference` | `"tflm"`, `"litert"` | whose integers are given where TensorFlow Lite's reference kernels disagree |
/// | `qdq` | `"integers"`, `"float"` | ONNX files in QDQ format: integer layers (the default), or the floats that the file describes |
/// | `qdq_drift` | `"64"` | how many steps outputs may drift from those floats; beyond it the model is refused |
/// | `float` | `"fast"`, `"reproducible"` | which bits floats have: those that are computed fastest (the default), or the same on every processor |
/// | `features` | `"librosa, sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"` | audio features in front of the model: its input is samples |
/// | `input_shape` | `"[1, 49, 40]"` | sizes that the file leaves open; of one of several inputs `input_shape("audio", [1, 49, 40])` |
/// | `channels_last` | `"image"` | an input or output of an ONNX model, by name, that is channel-last, `[n, h, w, c]`; may stand several times |
/// | `state("h_out", "h_in")` | | the model keeps that output for that input of the next inference, zeros at first; may stand several times |
/// | `custom_op("MyOp", path::to::function)` | | computes a custom operator of the model, see below |
/// | `schedule` | `"models/kws.schedule"` | a written schedule, relative to the crate's folder: order, pipelines and kernels, as `cargo kiln tune` measured them or you wrote them |
/// | `events` | `"layers"` | tells `kiln::events` about each layer: time, range of values; default `"none"` |
/// | `cores` | `2` … `64` | how many threads of a host may compute a step together, of those that help a `kiln::Crew`; on a microcontroller two cores. The model has `invoke_on` |
/// | `weights` | `"packed"`, `"widened"` | how flash holds weights of few bits: int4 and float16 ones, or others that fit; only portable kernels unpack them; `"widened"` where absent, but for `optimize = "size"` |
/// | `weights_section` | `".flash2"` | link section of the constants |
/// | `target` | `"portable"`, `"cortex-m0"`, `"cortex-m4"` … | the processor that code is made for; that of the crate being compiled where absent |
///
/// Over budget is a compile error that says what is needed and what holds it up.
///
/// A model that cannot be compiled is an error at the path, with everything that is wrong with it.
///
/// # Row by row
///
/// With `input = "rows"` a model takes its only input as it comes, camera lines or audio frames, and holds no more of it than is still to
/// be read. A row is one index of the second axis of `[1, rows, …]`:
///
/// ```
/// kiln::include_model!(Digits = "../host-tests/models/tflite/residual_int8.tflite", input = "rows", optimize = "memory");
///
/// let mut model = Digits::new();
/// for line in [[0i8; Digits::ROW_LEN]; Digits::ROWS] {
///     if let Some(scores) = model.push_row(&line) { // with the last row
///         assert_eq!(scores.len(), 10);
///     }
/// }
/// let scores = model.invoke(&[0; 64]); // or all rows of an input that is there
/// # assert_eq!(scores.len(), 10);
/// ```
///
/// With `input = "sliding"` the input is the window of the latest rows. `slide` takes the next one and computes only what is new: the bits are
/// those of an inference on the whole window. That works for models that do not pad along the rows; `cargo kiln explain` names the
/// operator that prevents it elsewhere.
///
/// ```
/// kiln::include_model!(Window = "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite", input = "sliding");
///
/// let mut model = Window::new();
/// for frame in 1..20 {
///     let output = model.slide(&[frame as i8; Window::ROW_LEN]); // with the first complete window, then every `HOP` frames
///     assert_eq!(output.is_some(), frame >= Window::ROWS);
/// }
/// model.reset(); // forgets all frames
/// ```
///
/// # Operators of your own
///
/// A custom operator of the model is computed by a function of yours, whose types and shapes are checked while the crate compiles
/// (`kiln::custom`):
///
/// ```
/// mod kernels {
///     use kiln::custom::{Dims1, Dims3, Input, Output};
///
///     /// Of each row the sum of its elements, each times a weight of its column.
///     pub fn weighted_sum(
///         x: Input<'_, i8, Dims3<1, 2, 3>>,
///         weights: Input<'_, i8, Dims1<3>>,
///         y: Output<'_, f32, Dims3<1, 2, 1>>,
///         _attributes: &'static [u8],
///     ) {
///         for (n, y) in y.cells().iter().enumerate() {
///             let term = |c| Some((i32::from(x.get([0, n, c])?) - x.zero_point) * i32::from(weights.get([c])?));
///             y.set((0..3).filter_map(term).sum::<i32>() as f32 * (x.scale * weights.scale));
///         }
///     }
/// }
///
/// kiln::include_model!(
///     Weighted = "../host-tests/models/custom/weighted_sum.tflite",
///     custom_op("WeightedSum", kernels::weighted_sum),
/// );
///
/// fn main() {
///     let mut model = Weighted::new();
///     model.input_mut().fill(Weighted::INPUT.zero_point as i8);
///     model.invoke();
///     assert_eq!(model.output(), &[10.0; 2]); // which the model adds
/// }
/// ```
///
/// # Among other tasks
///
/// `invoke_async` computes what `invoke` does and lets other tasks run after each step, on any executor:
///
/// ```
/// kiln::include_model!(Kws = "../host-tests/models/tflite/temporal_int8.tflite");
///
/// async fn listen(model: &mut Kws) -> i8 {
///     model.input_mut().fill(0);
///     model.invoke_async().await;
///     model.output()[0]
/// }
/// ```
///
/// # Fast RAM
///
/// With `fast_ram = "16K"` there are two arenas: one of at most that many bytes holds the values that are accessed most, the other one the
/// rest. Each is a static in a section of your choice:
///
/// ```
/// kiln::include_model!(Kws = "../host-tests/models/tflite/residual_int8.tflite", fast_ram = "256");
///
/// const _: () = assert!(Kws::FAST_BYTES <= 256);
///
/// let mut fast = kiln::Arena::<{ Kws::FAST_BYTES }>::new(); // in firmware: statics with a `#[link_section]`
/// let mut slow = kiln::Arena::<{ Kws::ARENA_BYTES }>::new();
/// let mut model = Kws::with_arenas(&mut fast, &mut slow);
/// model.input_mut().fill(0);
/// model.invoke();
/// assert_eq!(model.output().len(), 10);
/// ```
#[proc_macro]
pub fn include_model(arguments: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let expanded = kiln_codegen::include_model(arguments.into(), root.as_ref());
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a type of that name, which computes audio features from a stream of samples: those of librosa, torchaudio, Kaldi, `tf.signal`, `python_speech_features`, or TensorFlow Lite's front ends.
///
/// ```
/// kiln::features!(pub Mel = { like = "librosa", sample_rate = 16_000, n_fft = 512, hop = 160, n_mels = 40, log = "db" });
///
/// let mut mel = Mel::new();
/// let block = [0i16; 1000]; // what the microphone gave, of any length
/// let mut rest = &block[..];
/// let mut frames = 0;
/// while let Some(features) = mel.push(&mut rest) {
///     let _: &[f32; Mel::FEATURES] = features;
///     frames += 1;
/// }
/// assert_eq!(frames, 1 + (1000 - 256) / Mel::HOP); // the first one is centred at the first sample
/// mel.reset(); // forgets all samples
/// ```
///
/// Everything is decided, and all tables are made, while the crate compiles. The type holds the samples of a frame and the memory to compute in, and nothing else. `like` and `sample_rate` are
/// always there. What else is not said is the package's default. Features are `f32`, but for those of `values`.
///
/// | key | values | |
/// |---|---|---|
/// | `like` | `"librosa"`, `"torchaudio"`, `"kaldi"`, `"tf.signal"`, `"python_speech_features"`, `"tflm"`, `"microfrontend"`, `"pymicro_features"` | whose features these are; Kaldi also means `torchaudio.compliance.kaldi` |
/// | `sample_rate` | `16_000` | samples a second |
/// | `samples` | `"i16"`, `"f32"` | the type of samples that `push` takes; `"i16"` where absent |
/// | `full_scale` | `1.0`, `32768.0` | the float that was an `i16` of 32768 in training; 32768 for Kaldi and `python_speech_features`, else 1 |
/// | `arithmetic` | `"float"`, `"fixed"` | float32, or fixed point of 16 bits with block scaling, which is faster without an FPU; `"float"` where absent. Not for `tflm`, `microfrontend` and `pymicro_features`, which are integers always |
/// | `n_fft`, `win_length`, `hop` | `512` | samples of a transform, of a window, and from a window to the next |
/// | `window` | `"hann"`, `"hamming"`, `"blackman"`, `"povey"`, `"rectangular"` | |
/// | `periodic` | `true`, `false` | whether the window is periodic or symmetric |
/// | `center` | `true`, `false` | whether the first frame has the first sample in its middle |
/// | `pad_mode` | `"constant"`, `"reflect"` | what is in front of the first sample then: zeros, or the samples behind it |
/// | `normalized` | `"none"`, `"window"`, `"frame_length"` | `normalized` of torchaudio |
/// | `remove_dc` | `true`, `false` | whether the mean of each frame is removed |
/// | `preemphasis` | `0.97` | x(t) − 0.97 · x(t − 1) in place of x(t) |
/// | `power` | `1`, `2` | magnitudes or powers |
/// | `output` | `"spectrum"`, `"mel"`, `"mfcc"` | what features are; `"mfcc"` where `n_mfcc` is said, else `"mel"` |
/// | `n_mels`, `f_min`, `f_max` | `40`, `20.0`, `7600.0` | bands of mel, and the frequencies that they begin and end at |
/// | `mel_scale`, `mel_norm` | `"htk"`, `"slaney"`; `"none"`, `"slaney"` | |
/// | `log` | `"none"`, `"natural"`, `"log10"`, `"db"`, `"pcen"` | the logarithm of bands, or per-channel energy normalisation |
/// | `pcen_gain`, `pcen_bias`, `pcen_power`, `pcen_eps` | `0.98`, `2.0`, `0.5`, `1e-6` | of the latter, as of `librosa.pcen` |
/// | `pcen_time_constant`, `pcen_b` | `0.4`; `0.025` | seconds of its average, or what the average takes of a frame |
/// | `log_floor`, `log_offset` | `1e-10` | what energies are at least, and what is added to them, before the logarithm |
/// | `n_mfcc`, `lifter` | `13`, `22` | coefficients of the cosine transform, and their lifter |
/// | `energy` | `true`, `false` | whether the energy of the frame is a feature: `use_energy` of Kaldi, `appendEnergy` of `python_speech_features` |
/// | `deltas`, `delta_width` | `1`, `2`; `9` | how features change from frame to frame (1), and how that changes (2), of so many frames. Features come as many frames later as `DELAY` says |
/// | `values` | `"i16"`, `"i8"`, `"f32"` | the type of features of `tflm`, `microfrontend` and `pymicro_features`; `"i16"` where absent |
/// | `even_smoothing`, `odd_smoothing` | `0.025`, `0.06` | how fast their estimate of noise follows, in channels of even and odd index |
/// | `min_signal_remaining` | `0.05` | what noise leaves of the signal at least |
/// | `clamping` | `true`, `false` | whether the estimate of noise never exceeds the signal: `clamping` of TensorFlow Lite Micro |
/// | `pcan`, `pcan_strength`, `pcan_offset`, `pcan_gain_bits` | `true`, `0.95`, `80.0`, `21` | their automatic gain |
/// | `optimize`, `float`, `target`, `weights_section`, `ram`, `flash` | | as of [`include_model!`](macro@include_model) |
#[proc_macro]
pub fn features(arguments: proc_macro::TokenStream) -> proc_macro::TokenStream {
    kiln_codegen::features(arguments.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
