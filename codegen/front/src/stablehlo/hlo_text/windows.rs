//! Windows and dimensions of convolutions in HLO's text: `window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f`.

use super::emit::{Draft, Emitter};
use super::Instruction;
use crate::stablehlo::module::{Attribute, Attributes, CONVOLUTION};
use crate::stablehlo::scanner::Parsed;

/// Names of a window's properties in an operation.
struct Names {
    size: Option<&'static str>,
    lhs_dilation: &'static str,
    rhs_dilation: &'static str,
}

impl<'m> Emitter<'_, 'm> {
    /// The window of a convolution. The size is that of the kernel.
    pub(super) fn window_of_convolution(
        &mut self,
        instruction: &Instruction<'m>,
        draft: &mut Draft<'m>,
    ) -> Parsed<()> {
        let names = Names { size: None, lhs_dilation: "lhs_dilation", rhs_dilation: "rhs_dilation" };
        self.window(instruction, &names, draft)
    }

    /// The window of a reduction.
    pub(super) fn window_of_reduction(
        &mut self,
        instruction: &Instruction<'m>,
        draft: &mut Draft<'m>,
    ) -> Parsed<()> {
        let names = Names {
            size: Some("window_dimensions"),
            lhs_dilation: "base_dilations",
            rhs_dilation: "window_dilations",
        };
        self.window(instruction, &names, draft)
    }

    fn window(&mut self, instruction: &Instruction<'m>, names: &Names, draft: &mut Draft<'m>) -> Parsed<()> {
        let Some(at) = instruction.attribute("window") else {
            // That of a scalar.
            return match names.size {
                Some(key) => self.add(draft, key, Attribute::Ints(Vec::new())),
                None => Ok(()),
            };
        };
        self.scan.jump(at);
        self.scan.wants("{")?;
        while !self.scan.takes("}") {
            let at = self.scan.at();
            let property = self.scan.word();
            self.scan.wants("=")?;
            let key = match property {
                "size" => names.size,
                "stride" => Some("window_strides"),
                "pad" => Some("padding"),
                "lhs_dilate" => Some(names.lhs_dilation),
                "rhs_dilate" => Some(names.rhs_dilation),
                "rhs_reversal" => Some("window_reversal"),
                _ => return self.scan.broken_at(at, format!("{property} is no property of a window")),
            };
            let values = self.numbers(if property == "pad" { 2 } else { 1 })?;
            if let Some(key) = key {
                self.add(draft, key, Attribute::Ints(values))?;
            }
        }
        Ok(())
    }

    /// `2x3`, or `1_0x0_2`: for each dimension so many numbers.
    fn numbers(&mut self, each: usize) -> Parsed<Vec<i64>> {
        let mut numbers = Vec::new();
        loop {
            for index in 0..each {
                if index > 0 && !self.scan.joins("_") {
                    return self.scan.broken("\"_\" is wanted here");
                }
                self.scan.charge(8)?;
                numbers.push(self.short()?);
            }
            if !self.scan.joins("x") {
                return Ok(numbers);
            }
        }
    }

    /// A number in decimal digits: behind one of 0, an `x` says that another follows.
    fn short(&mut self) -> Parsed<i64> {
        let at = self.scan.at();
        let sign = if self.scan.joins("-") { -1 } else { 1 };
        match self.scan.run(|byte| byte.is_ascii_digit()).parse::<i64>() {
            Ok(number) => Ok(sign * number),
            Err(_) => self.scan.broken_at(at, "a whole number of 64 bits is wanted here"),
        }
    }

    /// `padding=0_1x2_0_1`: low, high and interior.
    pub(super) fn padding(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let (mut low, mut high, mut interior) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(at) = instruction.attribute("padding") {
            self.scan.jump(at);
            let is_number = |byte: u8| byte == b'-' || byte.is_ascii_digit();
            while self.scan.peek() == b'-' || self.scan.peek().is_ascii_digit() {
                self.scan.charge(24)?;
                low.push(self.short()?);
                if !self.scan.joins("_") {
                    return self.scan.broken("\"_\" is wanted here");
                }
                high.push(self.short()?);
                interior.push(if self.scan.joins("_") { self.short()? } else { 0 });
                if !self.scan.joins("x") || !is_number(self.scan.peek()) {
                    break;
                }
            }
        }
        self.add(draft, "edge_padding_low", Attribute::Ints(low))?;
        self.add(draft, "edge_padding_high", Attribute::Ints(high))?;
        self.add(draft, "interior_padding", Attribute::Ints(interior))
    }

    /// `dim_labels=b01f_01io->b01f`.
    pub(super) fn labels(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let Some(at) = instruction.attribute("dim_labels") else {
            return self.scan.broken_at(instruction.at, "a convolution has no dim_labels");
        };
        self.scan.jump(at);
        let mut labels = [""; 3];
        for (index, labels) in labels.iter_mut().enumerate() {
            if index > 0 && !self.scan.joins(if index == 1 { "_" } else { "->" }) {
                return self.scan.broken("labels such as b01f_01io->b01f are wanted here");
            }
            *labels = self.scan.run(|byte| byte.is_ascii_alphanumeric() || byte == b'?');
        }
        let mut parts = Attributes::default();
        for ((labels, names), letters) in
            labels.iter().zip(CONVOLUTION.chunks_exact(3)).zip([['b', 'f'], ['i', 'o'], ['b', 'f']])
        {
            let position = |letter: char| labels.find(letter).map(|position| position as i64);
            let spatial = labels.bytes().filter(u8::is_ascii_digit).count();
            let digits: Option<Vec<i64>> =
                (b'0'..=b'9').take(spatial).map(|digit| position(digit.into())).collect();
            let (Some(first), Some(second), Some(digits)) =
                (position(letters[0]), position(letters[1]), digits)
            else {
                return self.scan.broken_at(at, "the dimensions of a convolution are not complete");
            };
            self.add_to(&mut parts, names[0], Attribute::Int(first))?;
            self.add_to(&mut parts, names[1], Attribute::Int(second))?;
            self.add_to(&mut parts, names[2], Attribute::Ints(digits))?;
        }
        self.add(draft, "dimension_numbers", Attribute::Parts(parts))
    }
}
