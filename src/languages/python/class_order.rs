//! The order in which the bases of a class are searched (C3 linearisation): each class before its own bases, and bases in the
//! order they are named. Knows no class.

/// Merges rows of classes, each of which is in order. `None` if there is no order that fits all.
pub(super) fn linearised<T: Clone>(mut rows: Vec<Vec<T>>, is: impl Fn(&T, &T) -> bool) -> Option<Vec<T>> {
    let mut order = Vec::new();
    loop {
        rows.retain(|row| !row.is_empty());
        if rows.is_empty() {
            return Some(order);
        }
        let heads = rows.iter().filter_map(|row| row.first());
        let free = |head: &&T| !rows.iter().any(|row| row.iter().skip(1).any(|other| is(other, head)));
        let next = heads.clone().find(free).cloned()?;
        for row in &mut rows {
            if row.first().is_some_and(|head| is(head, &next)) {
                row.remove(0);
            }
        }
        order.push(next);
    }
}
