//! Pickles for tests, as PyTorch writes them.

/// The pickle of an integer.
pub(super) fn int(number: i32) -> Vec<u8> {
    [&b"J"[..], &number.to_le_bytes()].concat()
}

/// The pickle of a text.
pub(super) fn text(text: &str) -> Vec<u8> {
    [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn ints(list: &[i32]) -> Vec<u8> {
    let all: Vec<u8> = list.iter().flat_map(|&number| int(number)).collect();
    [&b"("[..], &all, b"t"].concat()
}

/// The pickle of a tensor that lies densely in a file.
pub(super) fn tensor(class: &str, file: &str, dims: &[i32]) -> Vec<u8> {
    let strides: Vec<i32> = (0..dims.len()).map(|k| dims[k + 1..].iter().product()).collect();
    let storage = [
        &b"("[..],
        &text("storage"),
        b"ctorch\n",
        class.as_bytes(),
        b"\n",
        &text(file),
        &text("cpu"),
        &int(dims.iter().product()),
        b"tQ",
    ]
    .concat();
    [
        &b"ctorch._utils\n_rebuild_tensor_v2\n("[..],
        &storage,
        &int(0),
        &ints(dims),
        &ints(&strides),
        b"\x89ccollections\nOrderedDict\n)RtR",
    ]
    .concat()
}
