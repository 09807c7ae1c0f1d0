//! Instructions of protocols that `torch.load(weights_only=True)` does not accept but `pickle` writes by default. Used
//! for reports, and for files that are not checkpoints.

use super::{Node, PickleMachine, ended};
use crate::pickle::refused;
use std::rc::Rc;
use tensor::Result;

impl PickleMachine<'_> {
    /// Executes an instruction of protocols 3 to 5, or one that only older programs write.
    pub(super) fn newer(&mut self, operation: u8) -> Result<()> {
        match operation {
            b'B' => {
                let length = u32::from_le_bytes(self.array()?);
                self.bytes_of(u64::from(length), Node::Bytes)
            }
            b'C' => {
                let [length] = self.array()?;
                self.bytes_of(u64::from(length), Node::Bytes)
            }
            b'\x8e' => {
                let length = u64::from_le_bytes(self.array()?);
                self.bytes_of(length, Node::Bytes)
            }
            b'\x96' => {
                let length = u64::from_le_bytes(self.array()?);
                self.bytes_of(length, Node::ByteArray)
            }
            b'\x8c' => {
                let [length] = self.array()?;
                let text = self.text(length.into())?;
                self.push(Node::Str(text))
            }
            b'\x8d' => {
                let length = u64::from_le_bytes(self.array()?);
                let text = self.text(usize::try_from(length).map_err(|_| ended())?)?;
                self.push(Node::Str(text))
            }
            // The length of a frame is only useful for streams.
            b'\x95' => self.array::<8>().map(drop),
            b'\x94' => {
                let (top, index) = (self.top()?, self.memo.len() as u32);
                self.memo.insert(index, top);
                Ok(())
            }
            b'\x93' => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Node::Str(module), Node::Str(name)) = (self.node(module).clone(), self.node(name).clone()) else {
                    return Err(refused("a class is named by two strings"));
                };
                self.charge(module.len() + name.len())?;
                self.name(&module, &name)
            }
            b'\x92' => {
                // No supported class takes keyword arguments.
                let (_, args, class) = (self.pop()?, self.pop()?, self.pop()?);
                self.stack.extend([class, args]);
                self.new_object()
            }
            b'\x90' => {
                let items = self.pop_mark()?;
                match self.top_node()? {
                    Node::Foreign(_, parts) => parts.extend(items),
                    _ => return Err(refused("only a set takes items")),
                }
                Ok(())
            }
            b'\x91' => {
                let items = self.pop_mark()?;
                self.push(Node::Foreign("a frozen set", items))
            }
            b'\x8b' => {
                let length = i32::from_le_bytes(self.array()?);
                self.long_of(usize::try_from(length).map_err(|_| refused("a number of negative length"))?)
            }
            b'0' => self.pop().map(drop),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
                Ok(())
            }
            other => Err(refused(format!("Unsupported operand {other}"))),
        }
    }

    fn bytes_of(&mut self, length: u64, node: fn(Rc<[u8]>) -> Node) -> Result<()> {
        let bytes = Rc::from(self.take(usize::try_from(length).map_err(|_| ended())?)?);
        self.push(node(bytes))
    }
}
