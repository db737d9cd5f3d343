//! Custom operators: calls of functions of the user's.

use super::*;

impl<'a> Selector<'a> {
    pub(super) fn custom(&mut self, node: &'a Node, name: &str, path: &str, options: &[u8]) -> Selected {
        let mut args = Vec::new();
        for &operand in &node.operands {
            let source = match self.graph.const_data(operand) {
                Some(data) => Operand::Constant(self.step_constant("OPERAND", data.clone())),
                None => Operand::Cells(self.region(operand)?),
            };
            args.push(Arg::Input(source, self.ty(operand).clone()));
        }
        args.push(Arg::Output(self.region(node.result)?, self.ty(node.result).clone()));
        args.push(self.constant_arg("OPTIONS", Data::new(options), Element::U8));
        let operands = node.operands.iter().map(|&operand| self.ty(operand).clone()).collect();
        let function = Custom {
            name: name.to_string(),
            path: path.to_string(),
            operands,
            result: self.ty(node.result).clone(),
        };
        let known = self.program.customs.iter().position(|custom| *custom == function);
        let custom = known.unwrap_or_else(|| {
            self.program.customs.push(function);
            self.program.customs.len() - 1
        });
        let (comment, callee) = (self.comment.clone(), Callee::Custom(custom));
        self.program.calls.push(Call { step: self.step, comment, callee, generics: Vec::new(), args });
        Ok(())
    }
}
