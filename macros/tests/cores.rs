//! Models that are compiled for several threads: `invoke_on` computes what `invoke` does, and what the same model computes that is compiled for one.

use kiln::any::AnyModel;
use kiln::{Crew, Model};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

kiln::include_model!(One = "../examples/digits/models/digits_int8.tflite", target = "x86-64");
kiln::include_model!(Several = "../examples/digits/models/digits_int8.tflite", target = "x86-64", cores = 3);
kiln::include_model!(Alone = "../examples/digits/models/digits_int8.tflite", target = "x86-64", cores = 1);
kiln::include_model!(
    Layers = "../examples/digits/models/digits_int8.tflite",
    target = "x86-64",
    cores = 64,
    events = "layers"
);

fn image(seed: usize) -> [i8; 64] {
    std::array::from_fn(|i| (i * (7 + seed) % 251) as u8 as i8)
}

#[test]
fn results_are_the_same() {
    let (mut one, mut several) = (One::new(), Several::new());
    let crew = Crew::new();
    for seed in 0..20 {
        one.input_mut().copy_from_slice(&image(seed));
        one.invoke();
        several.input_mut().copy_from_slice(&image(seed));
        match seed % 4 {
            0 => several.invoke(),
            1 => several.invoke_on(&crew),
            2 => assert!(Model::invoke_on(&mut several, &crew)),
            _ => {
                let mut future = pin!(several.invoke_async());
                let mut context = Context::from_waker(Waker::noop());
                while future.as_mut().poll(&mut context) == Poll::Pending {}
            }
        }
        assert_eq!(one.output(), several.output());
    }
}

#[test]
fn every_model_can_be_given_a_crew() {
    let mut models: [Box<dyn AnyModel>; 4] =
        [Box::new(One::new()), Box::new(Several::new()), Box::new(Alone::new()), Box::new(Layers::new())];
    let crew = Crew::new();
    let outputs = models.each_mut().map(|model| {
        for byte in model.input_bytes_mut(0) {
            *byte = 3;
        }
        assert!(model.invoke_on(&crew));
        model.output_bytes(0).to_vec()
    });
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}
