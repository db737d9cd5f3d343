use super::*;

/// A model that takes such an input.
fn feed(input: &str, numbers: Numbers, fit: bool) -> Feed {
    let graph = Graph::parse(&format!("graph \"g\" {{\n input %x: {input}\n return %x\n}}")).unwrap();
    Feed::new(&graph, numbers, fit, None)
}

fn plain(input: &str) -> Feed {
    feed(input, Numbers::default(), false)
}

fn picture(width: usize, height: usize, channels: usize, pixels: &[u8]) -> Raw {
    Raw::Picture(Picture { width, height, channels, pixels: pixels.into() })
}

fn sound(samples: &[i16]) -> Raw {
    Raw::Sound(Sound { rate: 16_000, samples: samples.into() })
}

fn array(dtype: DType, data: Data) -> Raw {
    Raw::Tensors(vec![Tensor { dtype, data }])
}

fn ints(feed: &Feed, raw: Raw) -> Vec<i8> {
    feed.inputs(raw).unwrap().steps[0][0].to_i8()
}

fn floats(feed: &Feed, raw: Raw) -> Vec<f32> {
    feed.inputs(raw).unwrap().steps[0][0].to_f32()
}

fn error(feed: &Feed, raw: Raw) -> String {
    format!("{:#}", feed.inputs(raw).unwrap_err())
}

/// All of them are pixels from the least to the largest stored value.
#[test]
fn pixels_fill_the_range_of_the_input() {
    let scales = ["0.003921569 : -128", "0.00784313 : 0", "0.0078125 : 0", "1.0 : -128", "1.0 : 0"];
    for scale in scales {
        let feed = plain(&format!("i8[1,1,3,1] q({scale})"));
        assert_eq!(ints(&feed, picture(3, 1, 1, &[0, 255, 100])), [-128, 127, -28], "{scale}");
    }
    let unsigned = plain("u8[1,1,2,1] q(0.003921569 : 0)");
    assert_eq!(unsigned.inputs(picture(2, 1, 1, &[3, 255])).unwrap().steps[0][0].bytes(), [3, 255]);
    let rule = |input: &str| plain(input).rule(&picture(1, 1, 1, &[0])).unwrap();
    assert_eq!(
        rule("i8[1,1,1,1] q(0.003921569 : -128)"),
        "pixel / 255, stored as i8 with scale 0.003922 and zero point -128"
    );
    assert!(rule("i8[1,1,1,1] q(0.007843138 : -1)").starts_with("(pixel − 127.5) / 127.5, stored"));
    assert!(rule("i8[1,1,1,1] q(1.0 : -128)").starts_with("pixel, stored"));
}

#[test]
fn samples_of_recordings_fill_it_too() {
    let feed = plain("i8[1,3] q(0.0078125 : 0)");
    assert_eq!(ints(&feed, sound(&[-32768, 16384, 0])), [-128, 64, 0]);
    assert!(feed.rule(&sound(&[])).unwrap().starts_with("sample / 32768"));
    let words = plain("i16[1,2]");
    assert_eq!(words.inputs(sound(&[-5, 7])).unwrap().steps[0][0].to_ints(DType::I16), [-5, 7]);
}

/// A quantise operator behind a float input says the same as a quantised input.
#[test]
fn the_first_operator_may_say_the_range() {
    let text = "graph \"g\" {\n input %x: f32[1,1,2,1]\n %q: i8[1,1,2,1] q(0.003921569 : -128) = quantize(%x)\n return %q\n}";
    let feed = Feed::new(&Graph::parse(text).unwrap(), Numbers::default(), false, None);
    assert_eq!(floats(&feed, picture(2, 1, 1, &[0, 255])), [0.0, 1.0]);
}

#[test]
fn where_nothing_says_it_the_user_has_to() {
    let floats = error(&plain("f32[1,1,2,1]"), picture(2, 1, 1, &[0, 255]));
    assert!(
        floats.contains("does not say which values pixels have\n    help: ")
            && floats.contains("--scale 1/255"),
        "{floats}"
    );
    let odd = error(&plain("i8[1,1,2,1] q(0.02 : 5)"), picture(2, 1, 1, &[0, 255]));
    assert!(odd.contains("from -2.6600 to 2.4400") && odd.contains("--mean"), "{odd}");
    let sounds = error(&plain("f32[1,2]"), sound(&[0, 1]));
    assert!(sounds.contains("--scale 1/32768"), "{sounds}");
}

#[test]
fn a_float_model_may_follow_a_quantised_one() {
    let mut floats_of = plain("f32[1,1,2,1]");
    floats_of.follow(&plain("i8[1,1,2,1] q(0.003921569 : -128)"));
    assert_eq!(floats(&floats_of, picture(2, 1, 1, &[0, 255])), [0.0, 1.0]);
    let mut integers = plain("i8[1,1,2,1] q(0.003921569 : -128)");
    integers.follow(&plain("i8[1,1,2,1] q(1.0 : 0)"));
    assert_eq!(ints(&integers, picture(2, 1, 1, &[0, 255])), [-128, 127]);
}

#[test]
fn the_user_may_say_it_for_each_channel() {
    let numbers = Numbers { mean: vec![10.0, 20.0, 30.0], scale: vec![1.0, 0.5, 0.25] };
    let pixels = [11, 22, 34, 12, 24, 38];
    let hwc = feed("f32[1,1,2,3]", numbers.clone(), false);
    assert_eq!(floats(&hwc, picture(2, 1, 3, &pixels)), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let chw = feed("f32[1,3,1,2]", numbers.clone(), false);
    assert_eq!(floats(&chw, picture(2, 1, 3, &pixels)), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert!(chw.rule(&picture(2, 1, 3, &pixels)).unwrap().starts_with("(pixel − [10.0, 20.0, 30.0]) × ["));
    let table = feed("f32[1,3]", numbers, false);
    assert_eq!(floats(&table, Raw::Numbers(vec![11.0, 22.0, 34.0])), [1.0, 1.0, 1.0]);
    let two = feed("f32[1,3]", Numbers { mean: vec![1.0, 2.0], scale: vec![] }, false);
    assert!(error(&two, Raw::Numbers(vec![1.0; 3])).contains("2 means or scales"));
}

#[test]
fn real_values_are_rounded_half_away_from_zero_and_saturated() {
    let feed = plain("i8[1,6] q(0.5 : 1)");
    let inputs = feed.inputs(Raw::Numbers(vec![0.25, -0.25, 0.0, 1e9, -1e9, f64::NAN])).unwrap();
    assert_eq!(inputs.steps[0][0].to_i8(), [2, 0, 1, 127, -128, 1]);
    assert_eq!((inputs.clipped, inputs.numbers), (2, 6));
}

#[test]
fn arrays_in_the_type_of_the_input_are_taken_as_they_are() {
    let feed = plain("i8[1,2] q(0.5 : 1)");
    let raw = || array(DType::I8, Data::from_i8(&[5, -6]));
    assert_eq!(ints(&feed, raw()), [5, -6]);
    assert_eq!(feed.rule(&raw()).unwrap(), "taken as it is");
    assert_eq!(ints(&feed, array(DType::F32, Data::from_f32(&[1.0, -2.0]))), [3, -3]);
    // Bytes are pixels.
    let image = plain("i8[1,2,1,1] q(0.003921569 : -128)");
    assert_eq!(ints(&image, array(DType::U8, Data::new([0u8, 255]))), [-128, 127]);
    let tokens = plain("i32[1,2]");
    let raw = array(DType::I64, Data::from_ints(DType::I64, [7, 300]));
    assert_eq!(tokens.inputs(raw).unwrap().steps[0][0].to_i32(), [7, 300]);
    assert!(error(&tokens, Raw::Numbers(vec![0.5, 1.0])).contains("takes integers"));
}

#[test]
fn pictures_of_another_size_are_refused_or_resized() {
    let raw = || picture(4, 2, 1, &[1, 1, 2, 2, 1, 1, 2, 2]);
    let said = error(&plain("u8[1,1,2,1] q(1.0 : 0)"), raw());
    assert!(said.contains("4 × 2 pixels, the model takes 2 × 1") && said.contains("--fit"), "{said}");
    let fit = feed("u8[1,1,2,1] q(1.0 : 0)", Numbers::default(), true);
    assert_eq!(fit.inputs(raw()).unwrap().steps[0][0].bytes(), [1, 2]);
    // Without rows, the model may take the list of all pixels.
    let list = plain("u8[1,8] q(1.0 : 0)");
    assert_eq!(list.inputs(raw()).unwrap().steps[0][0].bytes(), [1, 1, 2, 2, 1, 1, 2, 2]);
    assert!(error(&plain("u8[1,9] q(1.0 : 0)"), raw()).contains("size of those in training"));
    let rows = plain("u8[1,2,4] q(1.0 : 0)");
    assert_eq!(rows.inputs(raw()).unwrap().steps[0][0].bytes().len(), 8);
}

#[test]
fn recordings_of_another_length_are_refused_or_cut_or_filled() {
    let said = error(&plain("i16[1,4]"), sound(&[1, 2, 3]));
    assert!(said.contains("3 samples") && said.contains("takes 4") && said.contains("--fit"), "{said}");
    let fit = feed("i16[1,4]", Numbers::default(), true);
    let fitted = |samples: &[i16]| fit.inputs(sound(samples)).unwrap().steps[0][0].to_ints(DType::I16);
    assert_eq!(fitted(&[1, 2, 3]), [1, 2, 3, 0]);
    assert_eq!(fitted(&[1, 2, 3, 4, 5]), [1, 2, 3, 4]);
    // Even with --fit, samples do not become features.
    let features = feed("i8[1,49,40,1] q(0.1 : 0)", Numbers::default(), true);
    let said = error(&features, sound(&[0; 16_000]));
    assert!(said.contains("features, as it seems") && said.contains("numpy.savez"), "{said}");
}

#[test]
fn a_model_with_state_takes_several_steps() {
    let text = "graph \"g\" {\n input %x: f32[1,2]\n state %s \"s\": f32[1,2] = splat 0.0\n %y: f32[1,2] = add(%x, %s) {rescale = real, clamp = -inf..=inf}\n next %s = %y\n return %y\n}";
    let feed = Feed::new(&Graph::parse(text).unwrap(), Numbers::default(), false, None);
    let steps = feed.inputs(Raw::Numbers(vec![1.0, 2.0, 3.0, 4.0])).unwrap().steps;
    assert_eq!(steps.iter().map(|step| step[0].to_f32()).collect::<Vec<_>>(), [[1.0, 2.0], [3.0, 4.0]]);
    assert!(error(&feed, Raw::Numbers(vec![1.0; 3])).contains("takes 2, or a multiple of it"));
    let without = plain("f32[1,2]");
    assert_eq!(
        error(&without, Raw::Numbers(vec![1.0; 4])),
        "it has 4 values, the model's input [1, 2] takes 2"
    );
}

#[test]
fn several_inputs_come_from_an_archive() {
    let text = "graph \"g\" {\n input %x: f32[1,1]\n input %z: i8[1,1] q(0.5 : 0)\n return %x\n}";
    let feed = Feed::new(&Graph::parse(text).unwrap(), Numbers::default(), false, None);
    let one = Tensor { dtype: DType::F32, data: Data::from_f32(&[2.0]) };
    let inputs = feed.inputs(Raw::Tensors(vec![one.clone(), one])).unwrap();
    assert_eq!((inputs.steps[0][0].to_f32(), inputs.steps[0][1].to_i8()), (vec![2.0], vec![4]));
    assert!(error(&feed, Raw::Numbers(vec![1.0])).contains("the model has 2 inputs"));
}

#[test]
fn a_sliding_model_takes_longer_samples_row_by_row() {
    let graph = Graph::parse("graph \"g\" {\n input %x: f32[1,3,2]\n return %x\n}").unwrap();
    let window = Some(Window { rows: 3, row: 2, hop: 1 });
    let feed = Feed::new(&graph, Numbers::default(), false, window);
    let steps = |count: usize| feed.inputs(Raw::Numbers(vec![1.0; count])).map(|inputs| inputs.steps);
    let lengths =
        |count| steps(count).unwrap().iter().map(|step| step[0].bytes().len() / 4).collect::<Vec<_>>();
    assert_eq!((lengths(6), lengths(8)), (vec![6], vec![2; 4]));
    let said = error(&feed, Raw::Numbers(vec![1.0; 7]));
    assert_eq!(said, "it has 7 values, the model's window [1, 3, 2] takes 6, and each row more 2");
    assert!(steps(4).is_err());
}
