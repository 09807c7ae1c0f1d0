//! A tensor and an array turned step by step, with the words for what is refused.

use super::*;
use tensor::{DType, Scalar, Tensor};

fn turn(sizes: &[i64], strides: &[i64], offset: i64, cells: i64) -> Turn {
    let view = View::from_scalars(&[cells], DType::Float, (0..cells).map(Scalar::Int)).unwrap();
    let layout = Layout { sizes: sizes.into(), strides: strides.into(), offset };
    Turn::of(&Value::Tensor(Tensor::new(view.with_layout(layout)))).unwrap()
}

fn array(sizes: &[i64], strides: &[i64], offset: i64, nbytes: usize) -> Turn {
    Turn(Turned::Array(ArrayMemory {
        storage: Storage::from_bytes(&(0..nbytes as u8).collect::<Vec<_>>()).unwrap(),
        dtype: DType::Short,
        swapped: false,
        dtype_name: "int16".to_owned(),
        layout: Layout { sizes: sizes.into(), strides: strides.into(), offset },
        is_writeable: true,
        owns_data: true,
    }))
}

#[test]
fn a_change_stops_at_the_end_of_the_storage_and_says_why() {
    let small = || turn(&[2, 3], &[3, 1], 0, 8);
    for (change, wanted) in [
        (Change::Stride(0, 6), "stride 6 would reach cell 8; the storage has 8"),
        (Change::Stride(1, 3), "stride 3 would reach cell 9; the storage has 8"),
        (Change::Size(0, 3), "size 3 would reach cell 8; the storage has 8"),
        (Change::Size(0, -1), "a size is 0 or more, not -1"),
        (Change::Offset(3), "offset 3 would reach cell 8; the storage has 8"),
        (Change::Offset(-1), "offset -1 would reach cell -1; the storage begins at 0"),
        (
            Change::Stride(0, -1),
            "PyTorch has no negative strides: flip(0) copies instead. An array of NumPy can walk backwards",
        ),
        (Change::Size(2, 1), "there is no dimension 2"),
        (Change::Swap(0, 2), "there is no dimension 2"),
        (Change::Add(3), "there is no dimension 3"),
        (
            Change::DType(DType::Double),
            "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3",
        ),
        (
            Change::Stride(0, i64::MAX),
            "stride 9223372036854775807 would reach cell 9223372036854775809; the storage has 8",
        ),
    ] {
        let mut turn = small();
        assert_eq!(turn.apply(change), Err(wanted.to_owned()));
        assert_eq!(turn.layout(), small().layout(), "{change:?}");
    }
    let mut bytes = array(&[3], &[2], 2, 8);
    for (change, wanted) in [
        (Change::Stride(0, -2), Err("stride -2 would reach byte -2; the storage begins at 0")),
        (Change::Size(0, 4), Err("size 4 would reach byte 9; the storage has 8")),
        (Change::Stride(0, -1), Ok(())),
        (Change::DType(DType::Int), Err("strides[-1] must be 2 for elements of another size, not -1")),
        (Change::DType(DType::Half), Ok(())),
    ] {
        assert_eq!(bytes.apply(change), wanted.map_err(str::to_owned), "{change:?}");
    }
    assert_eq!(
        bytes.order(3).iter().map(|visit| visit.text.as_str()).collect::<Vec<_>>(),
        ["(0,): byte 2 + 0·(-1) = 2", "(1,): byte 2 + 1·(-1) = 1", "(2,): byte 2 + 2·(-1) = 0",]
    );
}

#[test]
fn changes_are_those_of_the_layout_algebra() {
    let mut turn = turn(&[2, 3], &[3, 1], 1, 8);
    let mut told = Vec::new();
    for change in [
        Change::Swap(0, 1),
        Change::Size(0, 2),
        Change::Add(1),
        Change::Add(0),
        Change::Remove(0),
        Change::Stride(1, 0),
        Change::Size(1, 5),
        Change::Remove(2),
        Change::Remove(1),
        Change::Remove(0),
        Change::Offset(7),
    ] {
        turn.apply(change).unwrap();
        let layout = turn.layout();
        told.push(format!("{:?} {:?} {}", layout.sizes, layout.strides, layout.offset));
    }
    let wanted = [
        "[3, 2] [1, 3] 1",
        "[2, 2] [1, 3] 1",
        "[2, 1, 2] [1, 6, 3] 1",
        "[1, 2, 1, 2] [2, 1, 6, 3] 1",
        "[2, 1, 2] [1, 6, 3] 1",
        "[2, 1, 2] [1, 0, 3] 1",
        "[2, 5, 2] [1, 0, 3] 1",
        "[2, 5] [1, 0] 1",
        "[2] [1] 1",
        "[] [] 1",
        "[] [] 7",
    ];
    assert_eq!(told, wanted);
    assert_eq!(turn.address(&[]), "7");
}

#[test]
fn bytes_are_written_into_the_storage_itself() {
    let turn = turn(&[2], &[1], 0, 2);
    let Turned::Tensor(view) = &turn.0 else { panic!("a tensor") };
    turn.set_byte(3, 0x40).unwrap();
    assert_eq!(view.scalars().unwrap(), [Scalar::Float(2.0), Scalar::Float(1.0)]);
    turn.set_byte(3, turn.flipped(3, 7).unwrap()).unwrap();
    assert_eq!((turn.byte(3), view.scalars().unwrap()[0]), (Ok(0xc0), Scalar::Float(-2.0)));
    assert_eq!(turn.set_byte(8, 0), Err("there is no byte 8; the storage has 8".to_owned()));
    assert_eq!(turn.flipped(0, 8), Err("a byte has bits 0 to 7, not 8".to_owned()));
}

#[test]
fn formulas_lines_and_views() {
    let plain = turn(&[2, 3], &[4, 2], 1, 12);
    assert_eq!(plain.address(&[1, 2]), "1 + 1·4 + 2·2 = 9");
    for (turn, lines, views) in [
        (turn(&[2, 3], &[3, 1], 0, 6), "1 of 64 bytes; reading in order enters one once", "view(6) works: stride 1"),
        (
            turn(&[3, 2], &[1, 3], 0, 6),
            "1 of 64 bytes; reading in order enters one once",
            "view(6) is refused: stride(0) is 1, one step through dimensions 0 and 1 needs 6",
        ),
        (
            turn(&[2, 3, 4], &[1, 8, 2], 0, 24),
            "2 of 64 bytes; reading in order enters one 4 times",
            "view(2, 12) works; view(24) is refused: stride(0) is 1, one step through dimensions 0 and 1 needs 24",
        ),
        (
            turn(&[4, 16], &[1, 16], 0, 1024),
            "16 of 64 bytes; reading in order enters one 64 times",
            "view(64) is refused: stride(0) is 1, one step through dimensions 0 and 1 needs 256",
        ),
        (turn(&[0], &[1], 0, 6), "none: there are no elements", "view(0) works: stride 1"),
    ] {
        assert_eq!((turn.cache_lines().as_str(), turn.views().as_str()), (lines, views), "{:?}", turn.layout());
    }
}

#[test]
fn the_simplest_line_comes_first() {
    let base = |turn: &Turn, name: &str| {
        let shown = match &turn.0 {
            Turned::Tensor(view) => Some(super::super::shown::Shown::of_view(view)),
            Turned::Array(array) => Some(super::super::shown::Shown::of_array(array)),
        };
        let class = if turn.is_array() { "ndarray" } else { "" };
        super::super::Holder::new(name.to_owned(), class, turn.storage().clone(), shown, 0)
    };
    let x = turn(&[2, 3], &[3, 1], 0, 12);
    for (sizes, strides, offset, wanted) in [
        (&[2, 3][..], &[3, 1][..], 0, "x"),
        (&[3, 2], &[1, 3], 0, "x.t()"),
        (&[6], &[1], 0, "x.view(6)"),
        (&[3], &[1], 3, "x[1]"),
        (&[2], &[3], 2, "x[:, 2]"),
        (&[2, 2], &[3, 2], 0, "x[:, ::2]"),
        (&[2, 2], &[3, 1], 1, "x[:, 1:]"),
        (&[2, 2], &[1, 3], 1, "x.t()[1:]"),
        (&[4, 2, 3], &[0, 3, 1], 0, "x.expand(4, 2, 3)"),
        (&[2, 1, 3], &[3, 3, 1], 0, "x.unsqueeze(1)"),
        (&[3, 2], &[1, 1], 0, "x.as_strided((3, 2), (1, 1), 0)"),
        (&[12], &[1], 0, "x.as_strided((12,), (1,), 0)"),
    ] {
        let turned = x.with(Layout { sizes: sizes.into(), strides: strides.into(), offset }, DType::Float).unwrap();
        let found = turned.base(&[base(&x, "x")]).unwrap();
        let codes = turned.codes(&found);
        assert_eq!(codes.first().map(String::as_str), Some(wanted));
        assert!(codes.last().unwrap().starts_with("x.as_strided("), "{codes:?}");
    }
    let mut other = x.clone();
    other.apply(Change::DType(DType::Short)).unwrap();
    let found = other.base(&[base(&x, "x")]).unwrap();
    assert_eq!(other.codes(&found), ["x.view(torch.int16)", "x.view(torch.int16).as_strided((2, 6), (6, 1), 0)"]);
    let narrow = turn(&[3, 2], &[1, 3], 0, 6);
    let wide = narrow.with(Layout::contiguous(&[3]), DType::Double).unwrap();
    let found = wide.base(&[base(&narrow, "n")]).unwrap();
    assert_eq!(wide.codes(&found), ["torch.empty(0, dtype=torch.float64).set_(n.untyped_storage(), 0, (3,), (1,))"]);
    let a = array(&[2, 2], &[4, 2], 0, 8);
    for (sizes, strides, offset, wanted) in [
        (&[2, 2][..], &[-4, 2][..], 4, "a[::-1]"),
        (&[2, 2], &[2, 4], 0, "a.T"),
        (&[4], &[2], 0, "a.reshape(4)"),
        (&[2], &[-4], 6, "a[::-1, 1]"),
        (&[1, 1], &[4, 2], 6, "a[1:, 1:]"),
        (&[7], &[1], 0, "np.ndarray((7,), np.int16, a, 0, (1,))"),
    ] {
        let turned = a.with(Layout { sizes: sizes.into(), strides: strides.into(), offset }, DType::Short).unwrap();
        let found = turned.base(&[base(&a, "a")]).unwrap();
        assert_eq!(turned.codes(&found).first().map(String::as_str), Some(wanted));
    }
}
