//! Instructions that `torch.load(weights_only=True)` does not accept: of protocols 3 to 5, which `pickle` writes by
//! default, and of protocols 0 and 1, which are text. Used for reports, and for loading in more than PyTorch's way.

use super::{Id, Node, PickleMachine, ended};
use crate::literal::Literal;
use crate::pickle::refused;
use num_bigint::BigInt;
use std::rc::Rc;
use tensor::Result;

impl PickleMachine<'_> {
    /// Executes an instruction that `torch.load` does not accept.
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
            b'1' => self.pop_mark().map(drop),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
                Ok(())
            }
            other => self.older(other),
        }
    }

    /// Executes an instruction of protocol 0 or 1.
    fn older(&mut self, operation: u8) -> Result<()> {
        match operation {
            b'I' => {
                let node = match self.line()? {
                    "00" => Node::Bool(false),
                    "01" => Node::Bool(true),
                    digits => whole_number(digits)?,
                };
                self.push(node)
            }
            b'L' => {
                let digits = self.line()?;
                self.push(whole_number(digits.strip_suffix('L').unwrap_or(digits))?)
            }
            b'F' => {
                let number = self.line()?.parse().map_err(|_| refused("a number is invalid"))?;
                self.push(Node::Float(number))
            }
            b'S' => {
                let Some(Literal::Text(text)) = Literal::parse(self.line()?) else {
                    return Err(refused("a string is not in quotes"));
                };
                self.push(Node::Str(text.into()))
            }
            b'T' => {
                let length = i32::from_le_bytes(self.array()?);
                let text = self.text(usize::try_from(length).map_err(|_| refused("a string of negative length"))?)?;
                self.push(Node::Str(text))
            }
            b'V' => {
                let text = unescaped(self.bytes_to_newline()?)?;
                self.push(Node::Str(text))
            }
            b'p' => {
                let (top, index) = (self.top()?, self.memo_index()?);
                self.memo.insert(index, top);
                Ok(())
            }
            b'g' => {
                let index = self.memo_index()?;
                self.recall(index)
            }
            b'l' => {
                let items = self.pop_mark()?;
                self.push(Node::List(items))
            }
            b'd' => {
                let items = self.pop_mark()?;
                let pairs = items.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect();
                self.push(Node::Dict(pairs, false))
            }
            b'i' => {
                let (module, name) = (self.line()?, self.line()?);
                let args = self.pop_mark()?;
                self.name(module, name)?;
                self.called_with(args)
            }
            b'o' => {
                let mut items = self.pop_mark()?.into_iter();
                let class = items.next().ok_or_else(|| refused("an object has no class"))?;
                self.stack.push(class);
                self.called_with(items.collect())
            }
            b'P' => {
                let id = self.line()?;
                self.storage_in_words(id)?;
                self.persistent()
            }
            other => Err(refused(format!("Unsupported operand {other}"))),
        }
    }

    /// Pushes the tuple that identifies a storage, which protocol 0 writes as its `repr`: `('storage', <class
    /// 'torch.FloatStorage'>, '0', 'cpu', 6)`. Any other text stands for itself.
    fn storage_in_words(&mut self, words: &str) -> Result<()> {
        let Some(Literal::Tuple(items)) = Literal::parse(&words.replace("<class '", "'").replace("'>", "'")) else {
            return self.push(Node::Str(words.into()));
        };
        self.marks.push(self.stack.len());
        for item in items {
            match item {
                Literal::Text(text) => match text.rsplit_once('.') {
                    Some((module, name)) if name.ends_with("Storage") => self.name(module, name)?,
                    _ => self.push(Node::Str(text.into()))?,
                },
                Literal::Int(number) => self.push(Node::Int(number.into()))?,
                Literal::None => self.push(Node::None)?,
                _ => return Err(refused("a storage has an unexpected part")),
            }
        }
        let items = self.pop_mark()?;
        self.push(Node::Tuple(items))
    }

    /// Calls the class on the stack.
    fn called_with(&mut self, args: Vec<Id>) -> Result<()> {
        self.push(Node::Tuple(args))?;
        self.reduce()
    }

    fn memo_index(&mut self) -> Result<u32> {
        self.line()?.parse().map_err(|_| refused("an object's number is invalid"))
    }

    fn bytes_of(&mut self, length: u64, node: fn(Rc<[u8]>) -> Node) -> Result<()> {
        let bytes = Rc::from(self.take(usize::try_from(length).map_err(|_| ended())?)?);
        self.push(node(bytes))
    }
}

fn whole_number(digits: &str) -> Result<Node> {
    if let Ok(number) = digits.parse() {
        return Ok(Node::Int(number));
    }
    // Reading digits takes time that grows with the square of their number.
    const LONGEST: usize = 5000;
    let long = (digits.len() <= LONGEST).then(|| digits.parse::<BigInt>().ok()).flatten();
    long.map(|long| Node::Long(Rc::new(long))).ok_or_else(|| refused("a whole number is invalid"))
}

/// Decodes Python's `raw-unicode-escape`: Latin-1, and `\uXXXX` or `\UXXXXXXXX` for other characters.
fn unescaped(bytes: &[u8]) -> Result<Rc<str>> {
    let wrong = || refused("a string has an invalid escape");
    let (mut text, mut rest) = (String::new(), bytes);
    while let Some((&first, after)) = rest.split_first() {
        let length = match (first, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(first));
                rest = after;
                continue;
            }
        };
        let digits = after.get(1..=length).and_then(|digits| str::from_utf8(digits).ok()).ok_or_else(wrong)?;
        let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        text.push(code.ok_or_else(wrong)?);
        rest = after.get(1 + length..).unwrap_or_default();
    }
    Ok(text.into())
}
