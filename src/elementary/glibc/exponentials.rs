//! Exponential functions of `f64` without branches, so that loops over them are vectorised. They take glibc's steps on
//! processors with fused multiply-adds, and give its digits, also where the system has another library.

use std::f64::consts::{LN_2, LOG2_E};

/// Adding this rounds a double below 2^51 to an integer, which ends up in the lowest bits of the sum.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

/// The largest magnitude for which [`exp`] needs no care for overflow and subnormal results.
pub const EXP_LIMIT: f64 = 512.0;
/// The same for [`exp2`].
pub const EXP2_LIMIT: f64 = 1000.0;
/// The same for [`exp_m1`].
pub const EXP_M1_LIMIT: f64 = 700.0;
/// The largest magnitude for which e^-x counts in [`sinh`] and [`cosh`]: the last number below 22.
pub const HYPERBOLIC_LIMIT: f64 = f64::from_bits(0x4035_FFFF_FFFF_FFFF);

/// Returns 2^(n/128) for the integer n in the lowest bits of `rounded`: the double, and the relative error of its
/// rounding.
#[inline(always)]
fn root_of_two(rounded: f64) -> (f64, f64) {
    let bits = rounded.to_bits();
    let [error, root] = ROOTS[(bits & 127) as usize];
    (f64::from_bits(root.wrapping_add(bits << 45)), f64::from_bits(error))
}

/// e^x for a magnitude of at most [`EXP_LIMIT`]: 2^(n/128) times a polynomial in the rest.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    /// ln 2 / 128 in two parts; the first is short enough for its multiples to be exact.
    const STEP: [f64; 2] = [f64::from_bits(0x3F76_2E42_FEFA_0000), f64::from_bits(0x3D0C_F79A_BC9E_3B39)];
    const SERIES: [f64; 4] = [
        f64::from_bits(0x3FDF_FFFF_FFFF_FDBD),
        f64::from_bits(0x3FC5_5555_5555_543C),
        f64::from_bits(0x3FA5_5555_CF17_2B91),
        f64::from_bits(0x3F81_1111_67A4_D017),
    ];
    let rounded = (LOG2_E * 128.0).mul_add(x, ROUND);
    let count = rounded - ROUND;
    let rest = (-count).mul_add(STEP[1], (-count).mul_add(STEP[0], x));
    let (root, error) = root_of_two(rounded);
    let square = rest * rest;
    let low = square.mul_add(rest.mul_add(SERIES[1], SERIES[0]), error + rest);
    root.mul_add((square * square).mul_add(rest.mul_add(SERIES[3], SERIES[2]), low), root)
}

/// 2^x for a magnitude of at most [`EXP2_LIMIT`], like [`exp`] but without fused steps.
#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    const SERIES: [f64; 5] = [
        LN_2,
        f64::from_bits(0x3FCE_BFBD_FF82_C424),
        f64::from_bits(0x3FAC_6B08_D70C_F4B5),
        f64::from_bits(0x3F83_B2AB_D246_50CC),
        f64::from_bits(0x3F55_D7E0_9B4E_3A84),
    ];
    let rounded = x + ROUND / 128.0;
    let rest = x - (rounded - ROUND / 128.0);
    let (root, error) = root_of_two(rounded);
    let square = rest * rest;
    let low = error + rest * SERIES[0] + square * (SERIES[1] + rest * SERIES[2]);
    root + root * (low + square * square * (SERIES[3] + rest * SERIES[4]))
}

/// e^x - 1 for x up to [`EXP_M1_LIMIT`], by FreeBSD's algorithm: with x = n ln 2 + r, a rational function of r, and a
/// formula that loses no digits for each range of n.
#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    /// ln 2 in two parts; the first is short enough for its multiples to be exact.
    const LN_2_PARTS: [f64; 2] = [f64::from_bits(0x3FE6_2E42_FEE0_0000), f64::from_bits(0x3DEA_39EF_3579_3C76)];
    const SERIES: [f64; 5] = [
        f64::from_bits(0xBFA1_1111_1111_10F4),
        f64::from_bits(0x3F5A_01A0_19FE_5585),
        f64::from_bits(0xBF14_CE19_9EAA_DBB7),
        f64::from_bits(0x3ED0_CFCA_86E6_5239),
        f64::from_bits(0xBE8A_FDB7_6E09_C32D),
    ];
    /// Up to this magnitude, half of ln 2, n is zero.
    const SMALL: f64 = f64::from_bits(0x3FD6_2E43_0000_0000);
    /// Below this, the result rounds to -1.
    const LEAST: f64 = f64::from_bits(0xC043_687A_0000_0000);
    let count = (LOG2_E * x + 0.5f64.copysign(x)).trunc();
    let count = if x.abs() < SMALL { 0.0 } else { count };
    let (above, below) = ((-count).mul_add(LN_2_PARTS[0], x), count * LN_2_PARTS[1]);
    let rest = above - below;
    let lost = (above - rest) - below;
    let half = 0.5 * rest;
    let product = rest * half;
    let square = product * product;
    let ratio = square.mul_add(product.mul_add(SERIES[2], SERIES[1]), product.mul_add(SERIES[0], 1.0));
    let ratio = (square * square).mul_add(product.mul_add(SERIES[4], SERIES[3]), ratio);
    let term = (-half).mul_add(ratio, 3.0);
    let error = product * ((ratio - term) / (-rest).mul_add(term, 6.0));
    let of_zero = rest - error.mul_add(rest, -product);
    let error = (error - lost).mul_add(rest, -lost) - product;
    let of_minus_one = 0.5 * (rest - error) - 0.5;
    let of_one = if rest < -0.25 { -2.0 * (error - (rest + 0.5)) } else { 1.0 + 2.0 * (rest - error) };
    // 2^-n, which is subtracted before the product with 2^n, or 1 after it.
    let after = (count <= -2.0) | (count > 56.0);
    let power = f64::from_bits(1.0f64.to_bits().wrapping_sub((count + ROUND).to_bits() << 52));
    let power = if after { 0.0 } else { power };
    let value = (1.0 - power) - (error - rest);
    let value = if (count >= 20.0) & !after { (rest - (error + power)) + 1.0 } else { value };
    let value = f64::from_bits(value.to_bits().wrapping_add((count + ROUND).to_bits() << 52));
    let value = value - if after { 1.0 } else { 0.0 };
    let value = if count == 1.0 { of_one } else { value };
    let value = if count == -1.0 { of_minus_one } else { value };
    let value = if count == 0.0 { of_zero } else { value };
    if x <= LEAST { -1.0 } else { value }
}

/// The logistic function of a magnitude of at most [`EXP_LIMIT`].
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent of a number.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let size = x.abs();
    let large = size >= 1.0;
    let power = exp_m1(if large { 2.0 * size } else { -2.0 * size });
    let above = if large { 2.0 } else { -power };
    let quotient = above / (power + 2.0);
    let value = if large { 1.0 - quotient } else { quotient };
    let value = if size >= 22.0 { 1.0 } else { value };
    value.copysign(x)
}

/// The hyperbolic sine of a magnitude up to [`HYPERBOLIC_LIMIT`].
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let size = x.abs();
    let small = size < 1.0;
    let power = exp_m1(size);
    let above = if small { power * power } else { power };
    let quotient = above / (power + 1.0);
    let sum = if small { 2.0 * power - quotient } else { power + quotient };
    let value = if size < f64::from_bits(0x3E30_0000_0000_0000) { size } else { 0.5 * sum };
    value.copysign(x)
}

/// The hyperbolic cosine of a magnitude up to [`HYPERBOLIC_LIMIT`].
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let size = x.abs();
    let small = size < f64::from_bits(0x3FD6_2E43_0000_0000);
    let (less_one, power) = (exp_m1(size), exp(size));
    let sum = 1.0 + less_one;
    let (above, below) = if small { (less_one * less_one, sum + sum) } else { (0.5, power) };
    let quotient = above / below;
    quotient + if small { 1.0 } else { 0.5 * power }
}

/// For k from 0 to 127: the bits of the relative error of 2^(k/128) as a double, and those of the double, less k / 128
/// in its exponent, so that adding n / 128 to the exponent multiplies by 2^(n / 128) for any n.
const ROOTS: [[u64; 2]; 128] = [
    [0, 0x3FF0_0000_0000_0000],
    [0x3C9B_3B4F_1A88_BF6E, 0x3FEF_F63D_A9FB_3335],
    [0xBC71_6013_9CD8_DC5D, 0x3FEF_EC9A_3E77_8061],
    [0xBC90_5E7A_1087_66D1, 0x3FEF_E315_E86E_7F85],
    [0x3C8C_D252_3567_F613, 0x3FEF_D9B0_D315_8574],
    [0xBC8B_CE80_23F9_8EFA, 0x3FEF_D06B_29DD_F6DE],
    [0x3C60_F74E_61E6_C861, 0x3FEF_C745_1875_9BC8],
    [0x3C90_A3E4_5B33_D399, 0x3FEF_BE3E_CAC6_F383],
    [0x3C97_9AA6_5D83_7B6D, 0x3FEF_B558_6CF9_890F],
    [0x3C8E_B51A_92FD_EFFC, 0x3FEF_AC92_2B72_47F7],
    [0x3C3E_BE3D_702F_9CD1, 0x3FEF_A3EC_32D3_D1A2],
    [0xBC6A_0334_8990_6E0B, 0x3FEF_9B66_AFFE_D31B],
    [0xBC95_5652_2A2F_BD0E, 0x3FEF_9301_D012_5B51],
    [0xBC50_80EF_8C4E_EA55, 0x3FEF_8ABD_C06C_31CC],
    [0xBC91_C923_B9D5_F416, 0x3FEF_829A_AEA9_2DE0],
    [0x3C80_D3E3_E95C_55AF, 0x3FEF_7A98_C8A5_8E51],
    [0xBC80_1B15_EAA5_9348, 0x3FEF_72B8_3C7D_517B],
    [0xBC8F_1FF0_55DE_323D, 0x3FEF_6AF9_388C_8DEA],
    [0x3C8B_898C_3F13_53BF, 0x3FEF_635B_EB6F_CB75],
    [0xBC96_D99C_7611_EB26, 0x3FEF_5BE0_8404_5CD4],
    [0x3C9A_ECF7_3E3A_2F60, 0x3FEF_5487_3168_B9AA],
    [0xBC8F_E782_CB86_389D, 0x3FEF_4D50_22FC_D91D],
    [0x3C8A_6F41_44A6_C38D, 0x3FEF_463B_8862_8CD6],
    [0x3C80_7A05_B0E4_047D, 0x3FEF_3F49_917D_DC96],
    [0x3C96_8EFD_E3A8_A894, 0x3FEF_387A_6E75_6238],
    [0x3C87_5E18_F274_487D, 0x3FEF_31CE_4FB2_A63F],
    [0x3C80_472B_981F_E7F2, 0x3FEF_2B45_65E2_7CDD],
    [0xBC96_B87B_3F71_085E, 0x3FEF_24DF_E1F5_6381],
    [0x3C82_F7E1_6D09_AB31, 0x3FEF_1E9D_F51F_DEE1],
    [0xBC3D_219B_1A6F_BFFA, 0x3FEF_187F_D0DA_D990],
    [0x3C8B_3782_720C_0AB4, 0x3FEF_1285_A6E4_030B],
    [0x3C6E_1492_89CE_CB8F, 0x3FEF_0CAF_A93E_2F56],
    [0x3C83_4D75_4DB0_ABB6, 0x3FEF_06FE_0A31_B715],
    [0x3C86_4201_E2AC_744C, 0x3FEF_0170_FC4C_D831],
    [0x3C8F_DD39_5DD3_F84A, 0x3FEE_FC08_B264_16FF],
    [0xBC86_A380_3B8E_5B04, 0x3FEE_F6C5_5F92_9FF1],
    [0xBC92_4AED_CC4B_5068, 0x3FEE_F1A7_373A_A9CB],
    [0xBC99_07F8_1B51_2D8E, 0x3FEE_ECAE_6D05_D866],
    [0xBC71_D1E8_3E94_36D2, 0x3FEE_E7DB_34E5_9FF7],
    [0xBC99_1919_B3CE_1B15, 0x3FEE_E32D_C313_A8E5],
    [0x3C85_9F48_A72A_4C6D, 0x3FEE_DEA6_4C12_3422],
    [0xBC93_1260_7A28_698A, 0x3FEE_DA45_04AC_801C],
    [0xBC58_A78F_4817_895B, 0x3FEE_D60A_21F7_2E2A],
    [0xBC7C_2C9B_6749_9A1B, 0x3FEE_D1F5_D950_A897],
    [0x3C43_63ED_60C2_AC11, 0x3FEE_CE08_6061_892D],
    [0x3C96_6609_3B06_64EF, 0x3FEE_CA41_ED1D_0057],
    [0x3C6E_CCE1_DAA1_0379, 0x3FEE_C6A2_B5C1_3CD0],
    [0x3C93_FF8E_3F0F_1230, 0x3FEE_C32A_F0D7_D3DE],
    [0x3C76_90CE_BB7A_AFB0, 0x3FEE_BFDA_D536_2A27],
    [0x3C93_1DBD_EB54_E077, 0x3FEE_BCB2_99FD_DD0D],
    [0xBC8F_9434_0071_A38E, 0x3FEE_B9B2_769D_2CA7],
    [0xBC87_DECC_DC93_A349, 0x3FEE_B6DA_A2CF_6642],
    [0xBC78_DEC6_BD0F_385F, 0x3FEE_B42B_569D_4F82],
    [0xBC86_1246_EC7B_5CF6, 0x3FEE_B1A4_CA5D_920F],
    [0x3C93_3505_18FD_D78E, 0x3FEE_AF47_36B5_27DA],
    [0x3C7B_98B7_2F8A_9B05, 0x3FEE_AD12_D497_C7FD],
    [0x3C90_63E1_E21C_5409, 0x3FEE_AB07_DD48_5429],
    [0x3C34_C785_5019_C6EA, 0x3FEE_A926_8A59_46B7],
    [0x3C94_32E6_2B64_C035, 0x3FEE_A76F_15AD_2148],
    [0xBC8C_E44A_6199_769F, 0x3FEE_A5E1_B976_DC09],
    [0xBC8C_33C5_3BEF_4DA8, 0x3FEE_A47E_B03A_5585],
    [0xBC84_5378_892B_E9AE, 0x3FEE_A346_34CC_C320],
    [0xBC93_CEDD_7856_5858, 0x3FEE_A238_8255_2225],
    [0x3C57_10AA_807E_1964, 0x3FEE_A155_D44C_A973],
    [0xBC93_B3EF_BF5E_2228, 0x3FEE_A09E_667F_3BCD],
    [0xBC6A_12AD_8734_B982, 0x3FEE_A012_750B_DABF],
    [0xBC63_67EF_B86D_A9EE, 0x3FEE_9FB2_3C65_1A2F],
    [0xBC80_DC3D_54E0_8851, 0x3FEE_9F7D_F951_9484],
    [0xBC78_1F64_7E5A_3ECF, 0x3FEE_9F75_E8EC_5F74],
    [0xBC86_EE4A_C08B_7DB0, 0x3FEE_9F9A_48A5_8174],
    [0xBC86_1932_1E55_E68A, 0x3FEE_9FEB_5642_67C9],
    [0x3C90_9CCB_5E09_D4D3, 0x3FEE_A069_4FDE_5D3F],
    [0xBC7B_32DC_B94D_A51D, 0x3FEE_A114_73EB_0187],
    [0x3C94_ECFD_5467_C06B, 0x3FEE_A1ED_0130_C132],
    [0x3C65_EBE1_ABD6_6C55, 0x3FEE_A2F3_36CF_4E62],
    [0xBC88_A1C5_2FB3_CF42, 0x3FEE_A427_543E_1A12],
    [0xBC93_69B6_F13B_3734, 0x3FEE_A589_994C_CE13],
    [0xBC80_5E84_3A19_FF1E, 0x3FEE_A71A_4623_C7AD],
    [0xBC94_D450_D872_576E, 0x3FEE_A8D9_9B44_92ED],
    [0x3C90_AD67_5B0E_8A00, 0x3FEE_AAC7_D98A_6699],
    [0x3C8D_B72F_C1F0_EAB4, 0x3FEE_ACE5_422A_A0DB],
    [0xBC65_B660_9CC5_E7FF, 0x3FEE_AF32_16B5_448C],
    [0x3C7B_F683_59F3_5F44, 0x3FEE_B1AE_9915_7736],
    [0xBC93_091F_A71E_3D83, 0x3FEE_B45B_0B91_FFC6],
    [0xBC5D_A9B8_8B6C_1E29, 0x3FEE_B737_B0CD_C5E5],
    [0xBC6C_23F9_7C90_B959, 0x3FEE_BA44_CBC8_520F],
    [0xBC92_4343_22F4_F9AA, 0x3FEE_BD82_9FDE_4E50],
    [0xBC85_CA6C_D766_8E4B, 0x3FEE_C0F1_70CA_07BA],
    [0x3C71_AFFC_2B91_CE27, 0x3FEE_C491_82A3_F090],
    [0x3C6D_D235_E10A_73BB, 0x3FEE_C863_19E3_2323],
    [0xBC87_C504_2262_2263, 0x3FEE_CC66_7B5D_E565],
    [0x3C8B_1C86_E3E2_31D5, 0x3FEE_D09B_EC4A_2D33],
    [0xBC91_BBD1_D3BC_BB15, 0x3FEE_D503_B23E_255D],
    [0x3C90_CC31_9CEE_31D2, 0x3FEE_D99E_1330_B358],
    [0x3C84_6984_6E73_5AB3, 0x3FEE_DE6B_5579_FDBF],
    [0xBC82_DFCD_978E_9DB4, 0x3FEE_E36B_BFD3_F37A],
    [0x3C8C_1A77_92CB_3387, 0x3FEE_E89F_995A_D3AD],
    [0xBC90_7B8F_4AD1_D9FA, 0x3FEE_EE07_298D_B666],
    [0xBC55_C3D9_56DC_AEBA, 0x3FEE_F3A2_B84F_15FB],
    [0xBC90_A40E_3DA6_F640, 0x3FEE_F972_8DE5_593A],
    [0xBC68_D6F4_38AD_9334, 0x3FEE_FF76_F2FB_5E47],
    [0xBC91_EEE2_6B58_8A35, 0x3FEF_05B0_30A1_064A],
    [0x3C74_FFD7_0A5F_DDCD, 0x3FEF_0C1E_904B_C1D2],
    [0xBC91_BDFB_FA92_98AC, 0x3FEF_12C2_5BD7_1E09],
    [0x3C73_6EAE_30AF_0CB3, 0x3FEF_199B_DD85_529C],
    [0x3C8E_E332_5C9F_FD94, 0x3FEF_20AB_5FFF_D07A],
    [0x3C84_E08F_D109_59AC, 0x3FEF_27F1_2E57_D14B],
    [0x3C63_CDAF_384E_1A67, 0x3FEF_2F6D_9406_E7B5],
    [0x3C67_6B2C_6C92_1968, 0x3FEF_3720_DCEF_9069],
    [0xBC80_8A18_83CC_B5D2, 0x3FEF_3F0B_555D_C3FA],
    [0xBC8F_AD5D_3FFF_FA6F, 0x3FEF_472D_4A07_897C],
    [0xBC90_0DAE_3875_A949, 0x3FEF_4F87_080D_89F2],
    [0x3C74_A385_A63D_07A7, 0x3FEF_5818_DCFB_A487],
    [0xBC82_919E_2040_220F, 0x3FEF_60E3_16C9_8398],
    [0x3C8E_5A50_D5C1_92AC, 0x3FEF_69E6_03DB_3285],
    [0x3C84_3A59_AC01_6B4B, 0x3FEF_7321_F301_B460],
    [0xBC82_D521_07B4_3E1F, 0x3FEF_7C97_337B_9B5F],
    [0xBC89_2AB9_3B47_0DC9, 0x3FEF_8646_14F5_A129],
    [0x3C74_B604_603A_88D3, 0x3FEF_902E_E78B_3FF6],
    [0x3C83_C5EC_519D_7271, 0x3FEF_9A51_FBC7_4C83],
    [0xBC8F_F712_8FD3_91F0, 0x3FEF_A4AF_A2A4_90DA],
    [0xBC8D_AE98_E223_747D, 0x3FEF_AF48_2D8E_67F1],
    [0x3C8E_C3BC_41AA_2008, 0x3FEF_BA1B_EE61_5A27],
    [0x3C84_2B94_C3A9_EB32, 0x3FEF_C52B_376B_BA97],
    [0x3C8A_64A9_31D1_85EE, 0x3FEF_D076_5B6E_4540],
    [0xBC8E_37BA_E43B_E3ED, 0x3FEF_DBFD_AD9C_BE14],
    [0x3C77_893B_4D91_CD9D, 0x3FEF_E7C1_819E_90D8],
    [0x3C53_05C1_4160_CC89, 0x3FEF_F3C2_2B8F_71F1],
];
