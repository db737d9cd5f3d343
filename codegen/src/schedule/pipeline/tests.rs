//! Pipelines of small graphs, with the numbers worked out by hand.

use super::*;

/// A graph of `f32` values; `lines` are its nodes.
fn graph(input: &str, lines: &[&str], output: &str) -> Graph {
    let text = format!("graph \"g\" {{ input %x \"x\": f32{input}\n{}\nreturn {output} }}", lines.join("\n"));
    let text = text.replace("WINDOW3", "window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf");
    let graph = Graph::parse(&text).unwrap();
    crate::verify::verify(&graph).unwrap();
    graph
}

fn draft(graph: &Graph, feed: Feed) -> Result<Draft, Obstacle> {
    Draft::new(graph, &Flow::of(graph), 0..graph.order.len(), feed)
}

/// Rows held by the ring of the value of that name, and whether it is transient.
fn ring(graph: &Graph, draft: &Draft, name: &str) -> (usize, bool) {
    let id = graph.values().find(|(_, v)| v.name == name).unwrap().0;
    let ring = draft.rings.iter().find(|ring| ring.values.contains(&id)).unwrap();
    (ring.rows, ring.transient)
}

fn beats(draft: &Draft) -> Vec<(usize, usize)> {
    draft.lanes.iter().map(|lane| (lane.beat.first, lane.beat.every)).collect()
}

#[test]
fn a_chain_holds_what_windows_need() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%b \"b\": f32[1,12,4,2] = max_pool2d(%a) {WINDOW3}",
        "%c \"c\": f32[1,12,4,2] = softmax(%b) {beta = 1.0, scale = real}",
        "%d \"d\": f32[1,6,2,2] = max_pool2d(%c) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}",
        "%e \"e\": f32[1,6,2,2] = max_pool2d(%d) {WINDOW3}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%e");
    let draft = draft(&graph, Feed::Whole).unwrap();
    // Row 0 of b needs row 1 of a; row 0 of d rows 0 and 1 of c, at tick 2; row 0 of e row 1 of d, at tick 4.
    assert_eq!(beats(&draft), [(0, 1), (1, 1), (1, 1), (2, 2), (4, 2)]);
    assert_eq!(draft.ticks, 15);
    assert_eq!(
        ["a", "b", "c", "d"].map(|v| ring(&graph, &draft, v)),
        [(3, false), (1, true), (2, false), (3, false)]
    );
    // Where a row of a is dead, c has its next one.
    assert_eq!(draft.bytes(&graph), 4 * 32 + 32 + 3 * 16);
    let alone = Draft::new(&graph, &Flow::of(&graph).without_sharing(), 0..5, Feed::Whole).unwrap();
    assert_eq!(alone.bytes(&graph), 3 * 32 + 32 + 2 * 32 + 3 * 16);
}

#[test]
fn a_skipped_value_is_kept_as_long_as_needed() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%b \"b\": f32[1,12,4,2] = max_pool2d(%a) {WINDOW3}",
        "%c \"c\": f32[1,12,4,2] = max_pool2d(%b) {WINDOW3}",
        "%d \"d\": f32[1,12,4,2] = add(%c, %a) {rescale = real, clamp = -inf..=inf}",
        "%e \"e\": f32[1,12,4,2] = max_pool2d(%d) {WINDOW3}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%e");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert_eq!(beats(&draft), [(0, 1), (1, 1), (2, 1), (2, 1), (3, 1)]);
    // The sum takes the place of c. Row r of a is last read with row r of d, two ticks after it was made.
    assert_eq!(
        ["a", "b", "c", "d"].map(|v| ring(&graph, &draft, v)),
        [(3, false), (3, false), (3, false), (3, false)]
    );
    assert_eq!(draft.rings.len(), 3);
}

#[test]
fn the_last_operand_of_a_sum_lives_in_the_result() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%d \"d\": f32[1,12,4,2] = add(%a, %x) {rescale = real, clamp = -inf..=inf}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%d");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert_eq!(draft.rings[0].within, Some(graph.outputs[0]));
    assert_eq!(draft.bytes(&graph), 0);
    // The sum may lie over x from one row ahead: its row r is written when the window that reads rows r-1 to r+1 of x is done.
    assert_eq!(draft.gap(&graph, &Flow::of(&graph), graph.inputs[0], graph.outputs[0]), 32);
}

#[test]
fn delays_are_lengthened_where_that_saves_memory() {
    // The skip is narrow before the concat with itself, wide behind: it is better widened late.
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%w \"w\": f32[1,12,4,4] = concat(%a, %a) {axis = 3}",
        "%b \"b\": f32[1,12,4,2] = max_pool2d(%a) {WINDOW3}",
        "%c \"c\": f32[1,12,4,2] = max_pool2d(%b) {WINDOW3}",
        "%d \"d\": f32[1,12,4,6] = concat(%c, %w) {axis = 3}",
        "%e \"e\": f32[1,12,4,6] = max_pool2d(%d) {WINDOW3}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%e");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert_eq!(beats(&draft), [(0, 1), (2, 1), (1, 1), (2, 1), (2, 1), (3, 1)]);
    assert_eq!(["a", "w"].map(|v| ring(&graph, &draft, v)), [(3, false), (1, true)]);
}

#[test]
fn branches_of_different_stride_meet() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%b \"b\": f32[1,6,2,2] = max_pool2d(%a) {window = [3, 3] stride [2, 2] pad [0, 1, 0, 1], clamp = -inf..=inf}",
        "%s \"s\": f32[1,6,2,2] = max_pool2d(%a) {window = [1, 1] stride [2, 2], clamp = -inf..=inf}",
        "%d \"d\": f32[1,6,2,2] = add(%b, %s) {rescale = real, clamp = -inf..=inf}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%d");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert_eq!(beats(&draft), [(0, 1), (2, 2), (2, 2), (2, 2)]);
}

#[test]
fn rows_of_different_strides_do_not_meet() {
    let lines = [
        "%a \"a\": f32[1,4,4,2] = max_pool2d(%x) {window = [6, 1] stride [2, 1], clamp = -inf..=inf}",
        "%b \"b\": f32[1,4,4,2] = max_pool2d(%x) {window = [9, 1], clamp = -inf..=inf}",
        "%d \"d\": f32[1,4,4,2] = add(%a, %b) {rescale = real, clamp = -inf..=inf}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%d");
    let obstacle = draft(&graph, Feed::Whole).unwrap_err();
    assert_eq!(obstacle.why, "joins rows of different strides");
}

#[test]
fn a_reshape_that_keeps_rows_shares_them() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%v \"v\": f32[1,12,8,1] = reshape(%a)",
        "%b \"b\": f32[1,12,8,1] = max_pool2d(%v) {WINDOW3}",
        "%w \"w\": f32[1,12,8] = reshape(%b)",
        "%c \"c\": f32[1,12,8] = tanh(%w)",
        "%u \"u\": f32[1,12,4,2] = reshape(%c)",
        "%d \"d\": f32[1,6,2,2] = max_pool2d(%u) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}",
        "%o \"o\": f32[1,6,4] = reshape(%d)",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%o");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert_eq!(beats(&draft), [(0, 1), (0, 1), (1, 1), (1, 1), (1, 1), (1, 1), (2, 2), (2, 2)]);
    let name = |id: &ValueId| graph.value(*id).name.as_str();
    let rings: Vec<Vec<&str>> =
        draft.rings.iter().map(|ring| ring.values.iter().map(name).collect()).collect();
    // The function takes the place of what it is computed from, under either shape.
    assert_eq!(rings, [vec!["a", "v"], vec!["b", "w", "c", "u"]]);
    assert_eq!((ring(&graph, &draft, "v"), ring(&graph, &draft, "u")), ((3, false), (2, false)));
    assert_eq!(draft.calls(), 12 + 12 + 12 + 6, "views are not computed");
    let schedule = crate::schedule::with_pipelines(&graph, &[draft]);
    assert_eq!(
        (schedule.steps.len(), schedule.outputs[0]),
        (4, schedule.storage.place(graph.outputs[0]).unwrap())
    );
}

#[test]
fn a_reshape_that_joins_rows_ends_the_pipeline() {
    for (shape, pool) in
        [("[1,6,8,2]", "[1,6,8,2]"), ("[1,24,4,1]", "[1,24,4,1]"), ("[1,1,12,8]", "[1,1,12,8]")]
    {
        let lines = [
            "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
            &format!("%v \"v\": f32{shape} = reshape(%a)"),
            &format!("%b \"b\": f32{pool} = max_pool2d(%v) {{WINDOW3}}"),
        ];
        let graph = graph("[1,12,4,2]", &lines, "%b");
        let obstacle = draft(&graph, Feed::Whole).unwrap_err();
        assert_eq!(graph.node(obstacle.node).op.name(), "reshape", "{shape}");
    }
}

/// Frames of a signal, and the image that they are: samples slide.
#[test]
fn an_image_of_frames_slides() {
    let lines = [
        "%a \"a\": f32[1,5,1,4] = max_pool2d(%x) {window = [4, 1] stride [2, 1], clamp = -inf..=inf}",
        "%v \"v\": f32[1,5,4,1] = reshape(%a)",
        "%b \"b\": f32[1,3,2,1] = max_pool2d(%v) {window = [3, 3], clamp = -inf..=inf}",
        "%c \"c\": f32[1,1,1,1] = avg_pool2d(%b) {window = [3, 2], clamp = -inf..=inf}",
        "%r \"r\": f32[1,1] = reshape(%c)",
        "%s \"s\": f32[1,1] = softmax(%r) {beta = 1.0, scale = real}",
    ];
    let graph = graph("[1,12,1,4]", &lines, "%s");
    let draft = sliding(&graph, &Flow::of(&graph)).unwrap();
    assert_eq!(
        (draft.nodes.clone(), draft.ticks, beats(&draft)),
        (0..4, 12, vec![(3, 2), (3, 2), (7, 2), (11, 2)])
    );
    assert_eq!(["x", "v", "b"].map(|name| ring(&graph, &draft, name).0), [4, 3, 3]);
}

#[test]
fn a_mean_over_all_rows_is_absorbed() {
    let lines = [
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        "%m \"m\": f32[1,1,1,2] = mean(%a) {axes = [1, 2], rescale = real, clamp = -inf..=inf}",
    ];
    let graph = graph("[1,12,4,2]", &lines, "%m");
    let draft = draft(&graph, Feed::Whole).unwrap();
    assert!(draft.lanes[1].absorbs && draft.lanes[1].rows == 12);
    assert_eq!((ring(&graph, &draft, "a"), draft.bytes(&graph)), ((1, true), 32 + 8));
}

/// A pooling, and the convolution that reads it.
fn pooled(convolution: &str) -> Graph {
    let lines = [
        "const %all: f32[3,12,4,2] = splat 0.5",
        "const %part: f32[3,12,2,2] = splat 0.5",
        "%a \"a\": f32[1,12,4,2] = max_pool2d(%x) {WINDOW3}",
        convolution,
    ];
    graph("[1,12,4,2]", &lines, "%m")
}

const PRODUCT: &str =
    "%m \"m\": f32[1,1,1,3] = conv2d(%a, %all) {window = [12, 4], groups = 1, rescale = real, clamp = -inf..=inf}";

#[test]
fn an_image_as_a_vector_is_absorbed() {
    let found = draft(&pooled(PRODUCT), Feed::Whole).unwrap();
    assert!(found.lanes[1].absorbs && found.lanes[1].rows == 12);
    // Filters that are narrower than the image have several results in a row.
    let part = "%m \"m\": f32[1,1,3,3] = conv2d(%a, %part) {window = [12, 2], groups = 1, rescale = real, clamp = -inf..=inf}";
    assert!(!draft(&pooled(part), Feed::Whole).unwrap().lanes[1].absorbs);
}

#[test]
fn kernels_that_take_whole_images_absorb_none() {
    let graph = pooled(PRODUCT);
    let flow = Flow::of(&graph).with_whole_products();
    let draft = Draft::new(&graph, &flow, 0..2, Feed::Whole).unwrap();
    assert!(!draft.lanes[1].absorbs);
}

const SLIDES: [&str; 4] = [
    "%a \"a\": f32[1,10,1,2] = max_pool2d(%x) {window = [3, 1], clamp = -inf..=inf}",
    "%b \"b\": f32[1,1,1,2] = max_pool2d(%a) {window = [10, 1], clamp = -inf..=inf}",
    "%r \"r\": f32[1,2] = reshape(%b)",
    "%p \"p\": f32[1,2] = softmax(%r) {beta = 1.0, scale = real}",
];

#[test]
fn a_model_without_padding_slides() {
    let graph = graph("[1,12,1,2]", &SLIDES, "%p");
    let draft = sliding(&graph, &Flow::of(&graph)).unwrap();
    assert_eq!((draft.nodes.clone(), draft.ticks), (0..2, 12));
    assert_eq!((ring(&graph, &draft, "x"), ring(&graph, &draft, "a")), ((3, false), (10, false)));
}

#[test]
fn what_prevents_sliding_is_named() {
    let refused = |lines: &[&str]| {
        let graph = graph("[1,12,1,2]", lines, "%p");
        sliding(&graph, &Flow::of(&graph)).unwrap_err().describe(&graph)
    };
    let padded = [
        "%a \"a\": f32[1,12,1,2] = max_pool2d(%x) {window = [3, 1] pad [1, 1, 0, 0], clamp = -inf..=inf}",
        "%b \"b\": f32[1,1,1,2] = max_pool2d(%a) {window = [12, 1], clamp = -inf..=inf}",
        SLIDES[2],
        SLIDES[3],
    ];
    assert!(refused(&padded).starts_with("max_pool2d \"a\" pads its operand along the rows"));
    let apart =
        ["%p \"p\": f32[1,1,1,2] = max_pool2d(%x) {window = [3, 1] stride [20, 1], clamp = -inf..=inf}"];
    assert!(refused(&apart).starts_with("its windows are 20 rows apart and 12 high"));
    let many = [
        SLIDES[0],
        "%b \"b\": f32[1,2,1,2] = max_pool2d(%a) {window = [9, 1], clamp = -inf..=inf}",
        "%r \"r\": f32[1,4] = reshape(%b)",
        "%p \"p\": f32[1,4] = softmax(%r) {beta = 1.0, scale = real}",
    ];
    assert_eq!(refused(&many), "reshape \"r\" needs all rows of \"b\" at once");
}
