//! The table of memory: the peak of each row above the memory in use before it.

use crate::Outcome;
use crate::peer::Peer;
use crate::rows::{SIDE, Table};

/// The side of the matrices in a first run, which starts threads and loads libraries before the measurement.
const SMALL: usize = 512;

/// Measures each row in a process of its own, and prints it beside the number of newly allocated bytes of the results.
pub(crate) fn measure(tables: &[Table], python: Option<&str>) -> Outcome<()> {
    print!("{:30}{:>10}{:>10}", "megabytes", "result", "tensorsh");
    println!("{}", if python.is_some() { "   PyTorch" } else { "" });
    for table in tables {
        for row in &table.rows {
            let (mut made, mut peaks) = (0.0, Vec::new());
            for (side, mut peer) in Peer::pair(python)?.into_iter().enumerate() {
                let lines = [row.line.as_str()];
                peer.prepare(table, &lines, SMALL)?;
                peer.time(&row.line, 1)?;
                peer.prepare(table, &lines, SIDE)?;
                peaks.push(peer.peak(&row.line)?);
                if side == 0 {
                    made = peer.bytes(row, table)?.made;
                }
            }
            print!("{:30}{:10.1}", row.name, made / 1e6);
            peaks.iter().for_each(|peak| print!("{:10.1}", peak / 1e6));
            println!();
        }
    }
    Ok(())
}
