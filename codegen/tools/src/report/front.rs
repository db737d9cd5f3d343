//! What stands in front of a model, in words.

use kiln_codegen::features::Features;
use kiln_codegen::Compiled;

/// What stands in front of the model by its options: audio features, the lines of a camera.
pub fn in_front(compiled: &Compiled) -> Vec<String> {
    let features = compiled.options.features.as_ref().and_then(|text| Features::of_text(text).ok());
    let features = features.map(|features| {
        let (name, count, length) = (features.like().name(), features.count(), features.length());
        let hop = features.hop();
        format!("audio features like those of {name}: {count} of {length} samples, for every {hop} samples")
    });
    let camera = compiled.program.camera.as_ref().map(|camera| {
        let (source, view) = (&camera.source, &camera.view);
        format!(
            "lines of a camera: {} × {} pixels of {}, of which {} × {} become {} × {} ({})",
            source.width,
            source.height,
            source.format.name(),
            view.width,
            view.height,
            camera.width,
            camera.height,
            camera.resize.name(),
        )
    });
    features.into_iter().chain(camera).collect()
}
