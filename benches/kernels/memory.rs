//! The table of memory: what each row takes at its peak above what was there before it.

use crate::Outcome;
use crate::peer::Peer;
use crate::rows::{SIDE, Table};

/// Elements along one side on which a row is run first, so that threads and libraries are there when it counts.
const SMALL: usize = 512;

/// Measures each row in processes of its own, and prints it beside the bytes of the results that were not there before.
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
