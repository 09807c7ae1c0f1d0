//! Blocks that control flow can leave early: loops, `try` and `with`. `return`, `break` and `continue` first emit the
//! cleanup of each block they leave. Errors go to the blocks' handlers instead.

use super::{Compiled, Compiler, source_offset};
use crate::python::code::{Op, Variable};
use crate::python::syntax::SyntaxFault;
use ruff_python_ast::{ExceptHandler, Stmt, StmtFor, StmtTry, StmtWhile, StmtWith, WithItem};

/// The maximum number of nested blocks; the same as CPython's.
const MAX_BLOCKS: usize = 20;

/// A block that is open at the compiler's current position.
#[derive(Clone)]
pub(super) enum Block<'a> {
    /// A loop: the instruction to continue at, and whether it has an iterator to drop.
    Loop {
        start: u32,
        is_for: bool,
        breaks: Vec<usize>,
    },
    /// The body of a `try` with `except` clauses.
    Try,
    /// A clause that handles an error, with the name it binds.
    Handler(Option<&'a str>),
    /// The body of a `try` with a `finally`.
    Finally(&'a [Stmt]),
    With(u32),
}

impl<'a> Compiler<'a, '_> {
    fn open(&mut self, block: Block<'a>, at: u32) -> Compiled {
        let blocks = &mut self.unit.blocks;
        blocks.push(block);
        let counted = blocks.iter().filter(|block| !matches!(block, Block::Handler(_))).count();
        if counted > MAX_BLOCKS {
            return Err(SyntaxFault::syntax("too many statically nested blocks", at as usize));
        }
        Ok(())
    }

    fn close(&mut self) -> Option<Block<'a>> {
        self.unit.blocks.pop()
    }

    pub(super) fn while_loop(&mut self, statement: &'a StmtWhile) -> Compiled {
        let start = self.here();
        self.expression(&statement.test)?;
        let end = self.jump(|to| Op::JumpIf(false, to), source_offset(&*statement.test));
        self.open(Block::Loop { start, is_for: false, breaks: Vec::new() }, source_offset(statement))?;
        self.looped((start, end), &statement.body, &statement.orelse, source_offset(statement))
    }

    pub(super) fn for_loop(&mut self, statement: &'a StmtFor) -> Compiled {
        if statement.is_async {
            self.refused("async loops", source_offset(statement));
            return Ok(());
        }
        self.expression(&statement.iter)?;
        let at = source_offset(&*statement.iter);
        self.emit(Op::Begin, at);
        let start = self.here();
        let end = self.jump(Op::Next, at);
        self.open(Block::Loop { start, is_for: true, breaks: Vec::new() }, source_offset(statement))?;
        self.assign(&statement.target)?;
        self.looped((start, end), &statement.body, &statement.orelse, source_offset(statement))
    }

    fn looped(&mut self, (start, end): (u32, usize), body: &'a [Stmt], orelse: &'a [Stmt], at: u32) -> Compiled {
        self.body(body)?;
        self.emit(Op::Jump(start), at);
        self.land(end);
        let block = self.close();
        self.body(orelse)?;
        if let Some(Block::Loop { breaks, .. }) = block {
            breaks.into_iter().for_each(|jump| self.land(jump));
        }
        Ok(())
    }

    /// Compiles `break` or `continue`.
    pub(super) fn leave_loop(&mut self, is_break: bool, at: u32) -> Compiled {
        let blocks = self.unit.blocks.clone();
        let loops = blocks.iter().enumerate().rev();
        let mut loops = loops.filter_map(|(depth, block)| match block {
            Block::Loop { start, is_for, .. } => Some((depth, *start, *is_for)),
            _ => None,
        });
        // Unreachable: a `break` or `continue` outside a loop is rejected earlier.
        let Some((depth, start, is_for)) = loops.next() else { return Ok(()) };
        self.leave(&blocks, depth + 1, at)?;
        if !is_break {
            self.emit(Op::Jump(start), at);
            return Ok(());
        }
        if is_for {
            self.emit(Op::End, at);
        }
        let jump = self.jump(Op::Jump, at);
        if let Some(Block::Loop { breaks, .. }) = self.unit.blocks.get_mut(depth) {
            breaks.push(jump);
        }
        Ok(())
    }

    /// Returns from the function with the value on top of the stack.
    pub(super) fn leave_function(&mut self, at: u32) -> Compiled {
        let blocks = self.unit.blocks.clone();
        if blocks.iter().any(|block| !matches!(block, Block::Loop { .. })) {
            // The cleanup may use the stack.
            let count = self.unit.code.locals.len();
            let kept = Variable::Local(self.slot(&format!(".return{count}")));
            self.emit(Op::Store(kept), at);
            self.leave(&blocks, 0, at)?;
            self.emit(Op::Load(kept), at);
        }
        self.emit(Op::Return, at);
        Ok(())
    }

    /// Emits the cleanup of the blocks from `depth` on, innermost first.
    fn leave(&mut self, blocks: &[Block<'a>], depth: usize, at: u32) -> Compiled {
        for (i, block) in blocks.iter().enumerate().skip(depth).rev() {
            // The cleanup may leave early itself, and then leaves only the outer blocks.
            self.unit.blocks.truncate(i);
            match block {
                Block::Loop { is_for: true, .. } => self.emit(Op::End, at),
                Block::Loop { .. } => {}
                Block::Try => self.emit(Op::EndTry, at),
                Block::Handler(name) => {
                    self.emit(Op::EndHandler, at);
                    if let Some(name) = name {
                        self.forget(name, at);
                    }
                }
                Block::Finally(body) => {
                    self.emit(Op::EndTry, at);
                    self.body(body)?;
                }
                Block::With(at) => {
                    self.emit(Op::EndTry, *at);
                    self.emit(Op::Leave, *at);
                }
            }
        }
        // Reopens the blocks and keeps the jumps recorded so far.
        let open = &mut self.unit.blocks;
        open.extend(blocks.iter().skip(open.len()).cloned());
        Ok(())
    }

    pub(super) fn try_statement(&mut self, statement: &'a StmtTry) -> Compiled {
        if statement.is_star {
            return Err(SyntaxFault::unsupported("except* clauses", statement));
        }
        let at = source_offset(statement);
        if statement.finalbody.is_empty() {
            return self.try_except(statement);
        }
        let handler = self.jump(Op::Try, at);
        self.open(Block::Finally(&statement.finalbody), at)?;
        if statement.handlers.is_empty() {
            self.body(&statement.body)?;
        } else {
            self.try_except(statement)?;
        }
        self.close();
        self.emit(Op::EndTry, at);
        self.body(&statement.finalbody)?;
        let end = self.jump(Op::Jump, at);
        self.land(handler);
        self.open(Block::Handler(None), at)?;
        self.body(&statement.finalbody)?;
        self.close();
        self.emit(Op::Reraise, at);
        self.land(end);
        Ok(())
    }

    fn try_except(&mut self, statement: &'a StmtTry) -> Compiled {
        let at = source_offset(statement);
        let handler = self.jump(Op::Try, at);
        self.open(Block::Try, at)?;
        self.body(&statement.body)?;
        self.close();
        self.emit(Op::EndTry, at);
        self.body(&statement.orelse)?;
        let mut ends = vec![self.jump(Op::Jump, at)];
        self.land(handler);
        for ExceptHandler::ExceptHandler(clause) in &statement.handlers {
            let at = source_offset(clause);
            let next = match &clause.type_ {
                Some(class) => {
                    self.expression(class)?;
                    Some(self.jump(Op::Catch, source_offset(&**class)))
                }
                None => None,
            };
            let name = clause.name.as_ref().map(|name| name.as_str());
            if let Some(name) = name {
                self.emit(Op::Handled, at);
                self.store(name, at);
            }
            // The bound name is deleted however the clause ends.
            let cleanup = name.map(|name| (name, self.jump(Op::Try, at)));
            if cleanup.is_some() {
                self.open(Block::Try, at)?;
            }
            let depth = self.unit.blocks.len() - usize::from(cleanup.is_some());
            self.unit.blocks.insert(depth, Block::Handler(name));
            self.body(&clause.body)?;
            self.unit.blocks.truncate(depth);
            if cleanup.is_some() {
                self.emit(Op::EndTry, at);
            }
            self.emit(Op::EndHandler, at);
            if let Some((name, handler)) = cleanup {
                self.forget(name, at);
                ends.push(self.jump(Op::Jump, at));
                self.land(handler);
                self.forget(name, at);
                self.emit(Op::Reraise, at);
            } else {
                ends.push(self.jump(Op::Jump, at));
            }
            if let Some(next) = next {
                self.land(next);
            }
        }
        self.emit(Op::Reraise, at);
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }

    pub(super) fn with(&mut self, statement: &'a StmtWith) -> Compiled {
        if statement.is_async {
            self.refused("async with statements", source_offset(statement));
            return Ok(());
        }
        self.with_items(&statement.items, &statement.body)
    }

    fn with_items(&mut self, items: &'a [WithItem], body: &'a [Stmt]) -> Compiled {
        let Some((item, rest)) = items.split_first() else { return self.body(body) };
        let at = source_offset(&item.context_expr);
        self.expression(&item.context_expr)?;
        let handler = self.jump(Op::With, at);
        self.open(Block::With(at), at)?;
        match item.optional_vars.as_deref() {
            Some(target) => self.assign(target)?,
            None => self.emit(Op::Pop, at),
        }
        self.with_items(rest, body)?;
        self.close();
        self.emit(Op::EndTry, at);
        self.emit(Op::Leave, at);
        let end = self.jump(Op::Jump, at);
        self.land(handler);
        let settled = self.jump(Op::LeaveHandler, at);
        self.emit(Op::Reraise, at);
        self.land(settled);
        self.emit(Op::EndHandler, at);
        self.land(end);
        Ok(())
    }
}
