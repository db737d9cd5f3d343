//! Options written back, as they are read.

use super::{CustomOp, Events, Float, Input, InputShape, Io, Optimize, Options, Qdq, Reference, StatePair};
use crate::source::Source;
use std::fmt;

impl Options {
    /// What is asked for beyond the defaults: options by name, with values that [`set`](Self::set) takes, in the order of [`NAMES`](Self::NAMES).
    pub fn given(&self) -> Vec<(&'static str, String)> {
        // All fields: a new option cannot be forgotten. `trace` is none that users set.
        let Options {
            name,
            optimize,
            flash,
            ram,
            cycles,
            recompute,
            fast_ram,
            weights,
            weights_section,
            io,
            input,
            source,
            reference,
            qdq,
            qdq_drift,
            float,
            features,
            input_shapes,
            channels_last,
            states,
            custom_ops,
            target,
            cores,
            events,
            schedule,
            trace: _,
        } = self;
        let choices = [
            ("optimize", optimize.name(), Optimize::default().name()),
            ("io", io.name(), Io::default().name()),
            ("input", input.name(), Input::default().name()),
            ("reference", reference.name(), Reference::default().name()),
            ("qdq", qdq.name(), Qdq::default().name()),
            ("float", float.name(), Float::default().name()),
            ("events", events.name(), Events::default().name()),
        ];
        let choices = choices.into_iter().filter(|(_, value, default)| value != default);
        let values = [
            ("name", name.clone()),
            ("flash", flash.map(in_bytes)),
            ("ram", ram.map(in_bytes)),
            ("cycles", cycles.map(|cycles| cycles.to_string())),
            ("recompute", recompute.map(in_thousandths)),
            ("fast_ram", fast_ram.map(in_bytes)),
            ("weights", weights.map(|weights| weights.name().into())),
            ("weights_section", weights_section.clone()),
            ("source", source.as_ref().map(Source::to_string)),
            ("qdq_drift", qdq_drift.map(|steps| steps.to_string())),
            ("features", features.clone()),
            ("target", target.map(|target| target.name().into())),
            ("cores", cores.map(|cores| cores.to_string())),
            ("schedule", schedule.as_ref().map(|file| file.path.clone())),
        ];
        let mut given: Vec<(&'static str, String)> =
            choices.map(|(option, value, _)| (option, value.to_owned())).collect();
        given.extend(values.into_iter().filter_map(|(option, value)| Some((option, value?))));
        given.extend(input_shapes.iter().map(|shape| ("input_shape", shape.to_string())));
        given.extend(channels_last.iter().map(|name| ("channels_last", name.clone())));
        given.extend(states.iter().map(|state| ("state", state.to_string())));
        given.extend(custom_ops.iter().map(|custom| ("custom_op", custom.to_string())));
        given.sort_by_key(|(option, _)| Self::NAMES.iter().position(|name| name == option));
        given
    }
}

/// A factor as users write it.
fn in_thousandths(factor: u32) -> String {
    let text = format!("{}.{:03}", factor / 1000, factor % 1000);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A size as users write it.
fn in_bytes(bytes: usize) -> String {
    match bytes % 1024 {
        0 if bytes > 0 => format!("{}K", bytes / 1024),
        _ => bytes.to_string(),
    }
}

impl fmt::Display for CustomOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.path)
    }
}

impl fmt::Display for InputShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}={:?}", self.dims),
            None => write!(f, "{:?}", self.dims),
        }
    }
}

impl fmt::Display for StatePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.output, self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of each option that is not its default, as it is written back.
    const VALUES: [(&str, &str); 25] = [
        ("name", "Kws"),
        ("optimize", "size"),
        ("flash", "64K"),
        ("ram", "20481"),
        ("cycles", "5000000"),
        ("recompute", "1.25"),
        ("fast_ram", "16K"),
        ("weights", "widened"),
        ("weights_section", ".flash2"),
        ("io", "quantized"),
        ("input", "rows"),
        ("source", "rgb565 320x240, crop = 240x200+40+0, resize = area, flip = both, like = pillow, order = bgr, mean = [1, 2.5, 3], scale = 0.003921569"),
        ("reference", "litert"),
        ("qdq", "float"),
        ("qdq_drift", "7"),
        ("float", "reproducible"),
        ("features", "librosa, sample_rate = 16000"),
        ("input_shape", "audio=[1, 49, 40]"),
        ("channels_last", "image"),
        ("state", "h_out=h_in"),
        ("custom_op", "My=Op=crate::kernels::my_op"),
        ("target", "cortex-m4"),
        ("cores", "2"),
        ("events", "layers"),
        ("schedule", "models/kws.schedule"),
    ];

    #[test]
    fn options_are_written_back_as_they_are_read() {
        let mut options = Options::default();
        assert!(options.given().is_empty());
        for (option, value) in VALUES {
            options.set(option, value).unwrap();
        }
        let given = options.given();
        let written: Vec<(&str, &str)> =
            given.iter().map(|(option, value)| (*option, value.as_str())).collect();
        assert_eq!(written, VALUES);
        let mut again = Options::default();
        given.iter().for_each(|(option, value)| again.set(option, value).unwrap());
        assert_eq!(again, options);
    }
}
