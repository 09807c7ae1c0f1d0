//! Checks that pieces make up a tensor: each is inside it, no two overlap, and nothing is missing.

use super::metadata::{Piece, wrong};
use tensor::layout::checked_numel;
use tensor::{Result, interrupt};

/// The maximum number of comparisons in a check. Pieces in a grid take a few each.
const PATIENCE: usize = 1 << 24;

/// Checks that each index of a tensor lies in exactly one piece.
///
/// # Errors
/// Fails with a ValueError that names the wrong piece, or the number of missing elements.
pub(super) fn check(sizes: &[i64], pieces: &[Piece]) -> Result<()> {
    let (total, mut covered) = (checked_numel(sizes)?, 0i64);
    for Piece { offsets, sizes: extent, .. } in pieces {
        let (at, of) = (offsets.as_slice(), extent.as_slice());
        let is_within = at.len() == sizes.len()
            && of.len() == sizes.len()
            && at.iter().zip(of).zip(sizes).all(|((from, length), size)| from.checked_add(*length) <= Some(*size))
            && at.iter().zip(of).all(|(from, length)| from.checked_add(*length).is_some());
        if !is_within {
            return Err(wrong(format_args!("its piece at {at:?} of {of:?} lies outside of its sizes {sizes:?}")));
        }
        covered = covered.saturating_add(checked_numel(extent)?);
    }
    let boxes: Vec<&Piece> = pieces.iter().filter(|piece| !piece.sizes.contains(&0)).collect();
    if let Some((one, other)) = overlapping(boxes, sizes.len())? {
        let (one, other) = (one.offsets.as_slice(), other.offsets.as_slice());
        return Err(wrong(format_args!("its pieces at {one:?} and {other:?} overlap")));
    }
    if covered != total {
        return Err(wrong(format_args!(
            "{} of its {total} elements are not in any piece",
            total.saturating_sub(covered)
        )));
    }
    Ok(())
}

/// Finds two overlapping pieces. Groups of pieces are split along separating planes; groups without such a plane are
/// compared pairwise.
fn overlapping(boxes: Vec<&Piece>, dimensions: usize) -> Result<Option<(&Piece, &Piece)>> {
    let (mut groups, mut patience) = (vec![boxes], PATIENCE);
    while let Some(mut group) = groups.pop() {
        interrupt::check()?;
        let mut spend = |looks: usize| {
            let rest = patience.checked_sub(looks);
            rest.map(|rest| patience = rest).ok_or_else(|| wrong("its pieces are too irregular to compare"))
        };
        if group.len() < 2 {
            continue;
        }
        let mut is_parted = false;
        for dimension in 0..dimensions {
            spend(group.len())?;
            let parted = split_at_planes(&mut group, dimension);
            if parted.len() > 1 {
                groups.extend(parted);
                is_parted = true;
                break;
            }
        }
        if is_parted {
            continue;
        }
        spend(group.len().saturating_mul(group.len()) / 2)?;
        for (index, one) in group.iter().enumerate() {
            let other = group.get(..index).unwrap_or_default().iter().find(|other| meet(one, other));
            if let Some(other) = other {
                return Ok(Some((other, one)));
            }
        }
    }
    Ok(None)
}

/// Returns the first and the end index of a piece in a dimension.
fn range(piece: &Piece, dimension: usize) -> (i64, i64) {
    let from = piece.offsets.get(dimension).copied().unwrap_or(0);
    (from, from + piece.sizes.get(dimension).copied().unwrap_or(0))
}

/// Splits the pieces into groups separated by planes across this dimension.
fn split_at_planes<'p>(group: &mut [&'p Piece], dimension: usize) -> Vec<Vec<&'p Piece>> {
    group.sort_by_key(|piece| range(piece, dimension));
    let (mut groups, mut reached): (Vec<Vec<&Piece>>, i64) = (Vec::new(), 0);
    for piece in group {
        let (from, to) = range(piece, dimension);
        match groups.last_mut() {
            Some(last) if from < reached => last.push(piece),
            _ => groups.push(vec![piece]),
        }
        reached = reached.max(to);
    }
    groups
}

fn meet(one: &Piece, other: &Piece) -> bool {
    (0..one.sizes.len()).all(|dimension| {
        let ((from, to), (other_from, other_to)) = (range(one, dimension), range(other, dimension));
        from < other_to && other_from < to
    })
}

#[cfg(test)]
mod tests {
    use super::super::metadata::ArchiveLocation;
    use super::*;

    fn piece(offsets: &[i64], sizes: &[i64]) -> Piece {
        let place = ArchiveLocation { file: "a".into(), start: 0, length: 0 };
        Piece { offsets: offsets.into(), sizes: sizes.into(), place }
    }

    fn said(sizes: &[i64], pieces: &[Piece]) -> String {
        check(sizes, pieces).map_or_else(|error| error.message, |()| String::new())
    }

    #[test]
    fn pieces_cover_a_tensor_once() {
        assert_eq!(said(&[], &[piece(&[], &[])]), "");
        assert_eq!(said(&[0, 3], &[]), "");
        assert_eq!(said(&[2, 3], &[piece(&[0, 0], &[2, 3]), piece(&[2, 0], &[0, 3])]), "");
        assert!(said(&[2], &[]).ends_with("2 of its 2 elements are not in any piece"));
        assert!(said(&[], &[]).ends_with("1 of its 1 elements are not in any piece"));
        let twice = [piece(&[], &[]), piece(&[], &[])];
        assert!(said(&[], &twice).ends_with("its pieces at [] and [] overlap"));
        assert!(said(&[3], &[piece(&[1], &[3])]).ends_with("at [1] of [3] lies outside of its sizes [3]"));
        assert!(said(&[3], &[piece(&[i64::MAX], &[i64::MAX])]).contains("outside"));
        assert!(said(&[3], &[piece(&[0, 0], &[3, 1])]).contains("outside"));
        // Arranged around a centre: no plane separates these five.
        let around = || {
            vec![
                piece(&[0, 0], &[1, 2]),
                piece(&[0, 2], &[2, 1]),
                piece(&[2, 1], &[1, 2]),
                piece(&[1, 0], &[2, 1]),
                piece(&[1, 1], &[1, 1]),
            ]
        };
        assert_eq!(said(&[3, 3], &around()), "");
        let mut wrong = around();
        wrong[4] = piece(&[0, 1], &[1, 1]);
        assert!(said(&[3, 3], &wrong).ends_with("its pieces at [0, 0] and [0, 1] overlap"));
    }

    #[test]
    fn a_large_grid_is_checked_at_once() {
        let mut grid: Vec<Piece> = (0..40_000).map(|i| piece(&[i / 200, i % 200], &[1, 1])).collect();
        assert_eq!(said(&[200, 200], &grid), "");
        grid[7] = piece(&[3, 4], &[1, 1]);
        assert!(said(&[200, 200], &grid).ends_with("its pieces at [3, 4] and [3, 4] overlap"));
        // A spiral, from which a plane separates one piece at a time.
        let ring = |i| [piece(&[i, i], &[1, 500 - i]), piece(&[i + 1, i], &[499 - i, 1])];
        let spiral: Vec<Piece> = (0..500).flat_map(ring).collect();
        assert_eq!(said(&[500, 500], &spiral), "");
    }
}
