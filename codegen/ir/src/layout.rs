//! Layouts: the order in which the elements of an image are stored.

/// In which order the elements of a row of an image are stored. Rows are the second axis of a tensor in either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The shape is \[n, h, w, c\]: the channels of a pixel lie side by side.
    #[default]
    ChannelLast,
    /// The shape is \[n, h, c, w\]: within a row, the pixels of a channel lie side by side.
    Planar,
}

impl Order {
    /// What a tensor of four axes in this order has (a dimension, a padding …) for `[image, row, column, channel]`; `None` for other ranks.
    pub fn image<T: Copy>(self, stored: &[T]) -> Option<[T; 4]> {
        let &[n, h, a, b] = stored else { return None };
        Some(self.stored([n, h, a, b]))
    }

    /// What is given for `[image, row, column, channel]`, by the axes of a tensor in this order.
    pub fn stored<T>(self, [n, h, w, c]: [T; 4]) -> [T; 4] {
        match self {
            Order::ChannelLast => [n, h, w, c],
            Order::Planar => [n, h, c, w],
        }
    }

    /// Elements from one image, row, column and channel to the next, in a tensor of `[n, h, w, c]` such.
    pub fn strides(self, [_, h, w, c]: [usize; 4]) -> [usize; 4] {
        let (column, channel) = match self {
            Order::ChannelLast => (c, 1),
            Order::Planar => (1, w),
        };
        [h * w * c, w * c, column, channel]
    }
}

/// The orders of an op's image operand and result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Of the first operand.
    pub x: Order,
    /// Of the result.
    pub y: Order,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_permute_and_lie_in_memory_so() {
        let image = [2, 3, 5, 7];
        for (order, stored) in [(Order::ChannelLast, [2, 3, 5, 7]), (Order::Planar, [2, 3, 7, 5])] {
            assert_eq!(order.stored(image), stored);
            assert_eq!(order.image(&stored), Some(image));
            // As the strides of the stored shape say.
            let strides = crate::Shape(stored.to_vec()).strides();
            assert_eq!(order.image(&strides), Some(order.strides(image)));
        }
        assert_eq!(Order::Planar.image(&[1, 2, 3]), None);
    }
}
