use super::*;

#[test]
fn sizes() {
    assert_eq!(parse_bytes("ram", "20K"), Ok(20 * 1024));
    assert_eq!(parse_bytes("ram", "1M"), Ok(1 << 20));
    assert_eq!(parse_bytes("ram", "20_480"), Ok(20_480));
    assert!(parse_bytes("ram", "20Q").is_err());
    for (text, cycles) in
        [("5_000_000", 5_000_000), ("500K", 500_000), ("5 M", 5_000_000), ("1.5M", 1_500_000)]
    {
        assert_eq!(parse_cycles(text), Ok(cycles), "{text}");
    }
    for text in ["", "M", "1.5", "1.2345K", "1.5G", "-1", "99999999999999M", "1.2.3M"] {
        assert!(parse_cycles(text).is_err(), "{text}");
    }
    assert!(parse_bytes("ram", "K").is_err());
    assert!(parse_bytes("ram", "99999999999999999999").is_err());
}

#[test]
fn sizes_are_read_for_the_option_they_are_given_to() {
    let mut options = Options::default();
    options.set("fast_ram", "16K").unwrap();
    assert_eq!(options, Options { fast_ram: Some(16 * 1024), ..Options::default() });
    let error = options.set("fast_ram", "all").unwrap_err().to_string();
    assert!(error.contains("`fast_ram`") && error.contains("20K"), "{error}");
}

#[test]
fn shapes_of_inputs() {
    let parse = |text: &str| text.parse::<InputShape>();
    assert_eq!(parse(" [1, 49,40] "), Ok([1, 49, 40].into()));
    assert_eq!(parse("serving=x:0 = [7]"), Ok(("serving=x:0", [7]).into()));
    for text in ["1, 49", "[1, -1]", "[0]", "[]", "[1, 49", "audio [1]", "[1]x"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains("option `input_shape`") && error.contains(text), "{error}");
    }
}

#[test]
fn states() {
    let mut options = Options::default();
    options.set("state", "h_out = h_in").unwrap();
    assert_eq!(options.states, [StatePair { output: "h_out".into(), input: "h_in".into() }]);
    for text in ["h", "=h", "h=", "a=b=c"] {
        let error = options.set("state", text).unwrap_err().to_string();
        assert!(error.contains("option `state`") && error.contains(text), "{error}");
    }
}

#[test]
fn custom_operators_are_bound_once() {
    let mut options = Options::default();
    options.set("custom_op", "My=Op = crate::kernels::my_op::<3>").unwrap();
    let bound = CustomOp { name: "My=Op".into(), path: "crate::kernels::my_op::<3>".into() };
    assert_eq!(options.custom_ops, [bound]);
    for (text, message) in [
        ("My=Op=a::b", "already bound to `crate::kernels::my_op::<3>`"),
        ("MyOp", "crate::kernels::my_op"),
        ("MyOp=", "MyOp="),
        ("=a::b", "=a::b"),
    ] {
        let error = options.set("custom_op", text).unwrap_err().to_string();
        assert!(error.contains("option `custom_op`") && error.contains(message), "{error}");
    }
}

#[test]
fn cores_are_those_of_the_target() {
    for target in [Target::CortexM0, Target::CortexMDsp, Target::Rv32] {
        let options = Options { target: Some(target), cores: Some(2), ..Options::default() };
        assert_eq!(options.check(), Ok(()));
        let small = Options { optimize: Optimize::Size, ..options };
        assert!(small.check().unwrap_err().to_string().contains("optimize"));
    }
    let mut options = Options { target: Some(Target::Vectors), ..Options::default() };
    options.set("cores", "4").unwrap();
    assert_eq!((options.cores(), options.check()), (4, Ok(())));
    for (target, input, message) in [
        (Target::CortexMDsp, Input::Whole, "two cores share"),
        (Target::Portable, Input::Whole, "`portable` runs on one core"),
        (Target::CortexMHelium, Input::Whole, "`cortex-m55` runs on one core"),
        (Target::Vectors, Input::Rows, "`input = \"rows\"`"),
        (Target::Vectors, Input::Sliding, "`input = \"sliding\"`"),
    ] {
        let options = Options { target: Some(target), input, ..options.clone() };
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains("option `cores`") && error.contains(message), "{error}");
        assert_eq!(Options { cores: Some(1), ..options }.check(), Ok(()));
    }
    for text in ["0", "65", "two", "-1", ""] {
        let error = options.set("cores", text).unwrap_err().to_string();
        assert!(error.contains("from 1 to 64"), "{error}");
    }
}

#[test]
fn unknown_options_are_named() {
    let error = Options::default().set("speed", "1").unwrap_err().to_string();
    assert!(error.contains("no option `speed`") && error.contains("optimize"), "{error}");
    let error = Options::default().set("optimise", "size").unwrap_err().to_string();
    assert!(error.contains("no option `optimise`") && error.contains("did you mean `optimize`?"), "{error}");
    let error = Options::default().set("optimize", "fast").unwrap_err().to_string();
    assert!(error.contains("`fast`") && error.contains("\"size\""), "{error}");
}
