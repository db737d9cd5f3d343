//! Outputs.

use super::{Arg, Importer, Refusal, OPERATOR_BYTES};
use kiln_ir::error::Error;
use kiln_ir::{DType, Data, Type};

impl<'p> Importer<'_, 'p> {
    /// Adds an output.
    pub(in crate::torch) fn output(&mut self, name: &str, arg: &'p Arg) -> Result<(), Error> {
        self.means.budget.charge(OPERATOR_BYTES)?;
        let value = match arg {
            Arg::Tensor(of) | Arg::Computed(of) => self
                .refresh(of)
                .and_then(|()| self.slots.get(of.as_str()).copied().flatten().ok_or(Refusal::Follows)),
            &Arg::Int(number) => {
                let ty = Type::plain(DType::I64, &[]);
                Ok(self.means.graph.add_const(name, ty, Data::from_ints(DType::I64, [number])))
            }
            _ => Err(Refusal::unsupported("it is no tensor", "remove it from the outputs")),
        };
        self.means.add_output(name, value)
    }
}
