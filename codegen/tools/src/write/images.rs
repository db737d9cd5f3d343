//! Convolutions, poolings and resizing: what looks at images.

use super::model::Attribute;
use super::tensors::{permuted, Axes, Writer, FIRST};
use super::Written;
use kiln_ir::{Clamp, Node, Padding, Window};

fn ints(list: &[usize]) -> Attribute {
    Attribute::Ints(list.iter().map(|&x| x as i64).collect())
}

fn pads(Padding { top, bottom, left, right }: Padding) -> Attribute {
    ints(&[top, left, bottom, right])
}

impl Writer<'_> {
    /// Conv2d.
    pub(super) fn conv(&mut self, node: &Node, window: &Window, groups: usize, clamp: &Clamp) -> Written {
        let x = self.tensor(node.operands[0], Axes::ChannelFirst);
        let weights = node.operands[1];
        let weights = match self.constant_of(weights) {
            Some((ty, data)) => {
                let dims = FIRST.map(|axis| ty.shape.dims()[axis]);
                let data = permuted(ty, data, &FIRST);
                self.constant(weights, ty, &dims, &data)
            }
            None => self.tensor(weights, Axes::ChannelFirst),
        };
        let mut operands = vec![x, weights];
        if let Some(&bias) = node.operands.get(2) {
            operands.push(self.tensor(bias, Axes::Own));
        }
        let attributes = vec![
            ("kernel_shape", ints(&window.size)),
            ("strides", ints(&window.stride)),
            ("dilations", ints(&window.dilation)),
            ("pads", pads(window.pad)),
            ("group", Attribute::Int(groups as i64)),
        ];
        let y = self.model.node("Conv", &operands, attributes);
        self.bind_clamped(node, Axes::ChannelFirst, y, clamp)
    }

    /// AvgPool2d and MaxPool2d.
    pub(super) fn pool(
        &mut self,
        node: &Node,
        operator: &'static str,
        window: &Window,
        clamp: &Clamp,
    ) -> Written {
        let x = self.tensor(node.operands[0], Axes::ChannelFirst);
        let attributes = vec![
            ("kernel_shape", ints(&window.size)),
            ("strides", ints(&window.stride)),
            ("pads", pads(window.pad)),
        ];
        let y = self.model.node(operator, &[x], attributes);
        self.bind_clamped(node, Axes::ChannelFirst, y, clamp)
    }

    /// ResizeBilinear.
    pub(super) fn resize(&mut self, node: &Node, align_corners: bool, half_pixel: bool) -> Written {
        let x = self.tensor(node.operands[0], Axes::ChannelFirst);
        let sizes: Vec<i64> =
            Axes::ChannelFirst.ordered(self.dims(node.result)).iter().map(|&dim| dim as i64).collect();
        let sizes = self.model.ints("sizes", &sizes);
        let place = match (align_corners, half_pixel) {
            (true, _) => "align_corners",
            (false, true) => "half_pixel",
            (false, false) => "asymmetric",
        };
        let attributes = vec![
            ("mode", Attribute::Text("linear")),
            ("coordinate_transformation_mode", Attribute::Text(place)),
        ];
        let operands = [Some(x), None, None, Some(sizes)];
        let y = self.model.node_of("Resize", &operands, &[true], attributes)[0];
        self.bind(node, Axes::ChannelFirst, y)
    }
}
