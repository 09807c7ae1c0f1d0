//! NumPy's `tanh`: a polynomial for each interval of magnitudes, from a table. The rows of a table are the point around
//! which an interval is expanded, and the coefficients from the constant one upwards.

use super::math::Real;

/// The bits of the table for double precision.
const DOUBLE: [[u64; 16]; 18] = [
    [
        0x0000_0000_0000_0000, 0x3fcc_0000_0000_0000, 0x3fd4_0000_0000_0000, 0x3fdc_0000_0000_0000,
        0x3fe4_0000_0000_0000, 0x3fec_0000_0000_0000, 0x3ff4_0000_0000_0000, 0x3ffc_0000_0000_0000,
        0x4004_0000_0000_0000, 0x400c_0000_0000_0000, 0x4014_0000_0000_0000, 0x401c_0000_0000_0000,
        0x4024_0000_0000_0000, 0x402c_0000_0000_0000, 0x4034_0000_0000_0000, 0x0000_0000_0000_0000,
    ],
    [
        0x0000_0000_0000_0000, 0x3fcb_8fd0_416a_7c92, 0x3fd3_5f98_a0ea_650e, 0x3fda_5729_ee48_8037,
        0x3fe1_bf47_eabb_8f95, 0x3fe6_8665_0b8c_2015, 0x3feb_2523_bb6b_2dee, 0x3fee_1fbf_97e3_3527,
        0x3fef_9258_260a_71c2, 0x3fef_f112_c63a_9077, 0x3fef_ff41_9668_df11, 0x3fef_fffc_8327_50f2,
        0x3fef_ffff_fdc9_6f35, 0x3fef_ffff_ffff_cf58, 0x3ff0_0000_0000_0000, 0x3ff0_0000_0000_0000,
    ],
    [
        0x3ff0_0000_0000_0000, 0x3fee_842c_a3f0_8532, 0x3fed_1157_4af5_8f1b, 0x3fea_945b_9c24_e4f9,
        0x3fe6_284c_3374_f815, 0x3fe0_2500_a09f_8d6e, 0x3fd1_f251_31e3_a8c0, 0x3fbd_22ca_1c24_a139,
        0x3f9b_3afe_1fba_5c76, 0x3f6d_d37d_19b2_2b21, 0x3f27_ccec_13a9_ef96, 0x3ecb_e6c3_f332_50ae,
        0x3e41_b486_5394_f75f, 0x3d88_53f0_1bda_5f28, 0x3c73_953c_0197_ef58, 0x0000_0000_0000_0000,
    ],
    [
        0xbbf0_b3ea_3fdf_aa19, 0xbfca_48aa_eb53_bc21, 0xbfd1_9921_f432_9916, 0xbfd5_e0f0_9bef_8011,
        0xbfd8_93b5_9c35_c882, 0xbfd6_ba7c_b757_6538, 0xbfce_7291_743d_7555, 0xbfbb_6d85_a01e_fb80,
        0xbf9a_ddae_58c7_141a, 0xbf6d_c593_76c7_aa19, 0xbf27_cc5e_7467_7410, 0xbecb_e6c0_e8b4_cc87,
        0xbe41_b486_526b_0565, 0xbd88_53f0_1bef_63a4, 0xbc73_955b_e519_be31, 0x0000_0000_0000_0000,
    ],
    [
        0xbfd5_5555_5555_5555, 0xbfd1_83af_c292_ba11, 0xbfcc_1a4b_039c_9bfa, 0xbfc1_6e1e_6d8d_0be6,
        0xbf92_426c_751e_48a2, 0x3fb4_f152_b2ba_d124, 0x3fbb_ba40_cbef_72be, 0x3fb0_1ba0_38be_6a3d,
        0x3f91_6df4_4871_efc8, 0x3f63_c686_9dfc_8870, 0x3f1f_b9ae_f915_d828, 0x3ec2_99d1_e27c_6e11,
        0x3e37_9b5d_dcca_334c, 0x3d80_37f5_7bc6_2c9a, 0x3c6a_2d4b_50a2_cff7, 0x0000_0000_0000_0000,
    ],
    [
        0xbce6_863e_e44e_d636, 0x3fc0_4dcd_0476_c75e, 0x3fc4_3d34_49a8_0f08, 0x3fc5_c26f_3699_b7e7,
        0x3fc1_a686_f6ab_2533, 0x3faf_203c_316c_e730, 0xbf89_c7a0_2788_557c, 0xbf98_157e_26e0_d541,
        0xbf80_7b55_c1c7_d278, 0xbf53_a18d_5843_190f, 0xbf0f_b6bb_c89b_1a5b, 0xbeb2_99c9_c684_a963,
        0xbe27_9b5d_d4fb_3d01, 0xbd70_37f5_7ae7_2aa6, 0xbc5a_2ca2_bba7_8e86, 0x0000_0000_0000_0000,
    ],
    [
        0x3fc1_1111_1111_2ab5, 0x3fb5_c19e_fdfc_08ad, 0x3fa7_4c98_dc34_fbac, 0xbf79_0d6a_8eff_0a77,
        0xbfac_3c02_1789_a786, 0xbfae_2196_b732_6859, 0xbf93_a7a0_11ff_8c2a, 0x3f6e_4709_c7e8_430e,
        0x3f67_682a_fa61_1151, 0x3f3e_f2ee_7771_7cbf, 0x3ef9_5a44_82f1_80b7, 0x3e9d_c2c2_7da3_b603,
        0x3e12_e2af_d9f7_433e, 0x3d59_f320_3486_79ba, 0x3c44_b61d_9bbc_c940, 0x0000_0000_0000_0000,
    ],
    [
        0xbda1_ea19_dddd_b3b4, 0xbfb0_b8df_995c_e4df, 0xbfb2_955c_f41e_8164, 0xbfaf_9d05_c309_f7c6,
        0xbf98_7d27_ccff_4291, 0x3f8b_2ca6_2572_b098, 0x3f8f_1cf6_c7f5_b00a, 0x3f60_3798_11e4_3dd5,
        0xbf47_9382_6f78_537e, 0xbf24_0569_5e36_240f, 0xbee0_e08d_e39c_e756, 0xbe83_d709_ba5f_714e,
        0xbdf9_2e3f_c5ee_63e0, 0xbd41_4cc0_30f2_110e, 0xbc2b_a022_e8d8_2a87, 0x0000_0000_0000_0000,
    ],
    [
        0xbfab_a1ba_1990_520b, 0xbf96_e37b_ba52_f6fc, 0x3ecf_f7df_1845_5399, 0x3f97_3628_34d3_3a4e,
        0x3f9e_7f83_8018_4b45, 0x3f86_9543_e7c4_20d4, 0xbf73_26bd_4914_222a, 0xbf5f_c15b_0a9d_98fa,
        0x3f14_cffc_fa69_fbb6, 0x3f05_7e48_e5b7_9d10, 0x3ec3_3b66_d7d7_7264, 0x3e66_ac4e_578b_9b10,
        0x3ddc_c74b_8d3d_5c42, 0x3d23_c589_137f_92b4, 0x3c10_7f8e_2c87_07a1, 0x0000_0000_0000_0000,
    ],
    [
        0xbe35_1ca7_f096_011f, 0x3f9e_aaf3_320c_3851, 0x3f9c_f823_fe76_1fc1, 0x3f90_2227_1754_ff1f,
        0xbf73_1fe7_7c9c_60af, 0xbf84_a604_6865_ec7d, 0xbf4c_a3f1_f2b9_192b, 0x3f4c_77de_e0af_d227,
        0x3f04_055b_ce68_597a, 0xbee2_bf0c_b4a7_1647, 0xbea3_1eaa_fe73_efd5, 0xbe46_abb0_2c43_68ed,
        0xbdbc_c749_ca80_79dd, 0xbd03_c588_3836_b9d2, 0xbbf0_7a54_1626_4aec, 0x0000_0000_0000_0000,
    ],
    [
        0x3f96_64f9_4e6a_c14e, 0xbf94_d334_3bae_39dd, 0xbf7b_c748_e60d_f843, 0xbf8c_8937_2b43_ba85,
        0xbf81_29a0_92de_747a, 0x3f60_c85b_4d53_8746, 0x3f5b_e939_2199_ec18, 0xbf2a_0c68_a448_9f10,
        0xbf00_4626_01dc_2faa, 0x3eb7_b6a2_19de_a9f4, 0x3e80_cbcc_8d4c_5c8a, 0x3e24_25bb_231a_5e29,
        0x3d99_92a4_beac_8662, 0x3ce1_91ba_5ed3_fb67, 0x3bc8_9245_0bad_44c4, 0x0000_0000_0000_0000,
    ],
    [
        0xbea8_c4c1_fd78_52fe, 0xbfcc_ce16_b104_6f13, 0xbf81_a16f_224b_b7b6, 0xbf62_cbf0_0406_bc09,
        0x3f75_b29b_b02c_f69b, 0x3f60_7df0_f9f9_0c17, 0xbf4b_852a_6e07_58d5, 0xbf00_78c6_3d1b_8445,
        0x3eec_12ea_dd55_be7a, 0xbe6f_a600_f593_181b, 0xbe5a_3c93_5dce_3f7d, 0xbe00_1c6d_95e3_ae96,
        0xbd74_755a_00ea_1fd3, 0xbcbc_1c6c_063b_b7ac, 0xbba3_be9a_4460_fe00, 0x0000_0000_0000_0000,
    ],
    [
        0xbf82_2404_577a_a9dd, 0x403d_8b07_f7a8_2aa3, 0xbf9f_44ab_92fb_ab0a, 0x3fb2_eac6_0447_3d6a,
        0x3f45_f87d_903a_aac8, 0xbf5e_1046_7103_6300, 0x3f19_bc98_ddf0_f340, 0x3f0d_4304_bc92_46e8,
        0xbed1_3c41_5f7b_9d41, 0xbe72_2b8d_9720_cdb0, 0x3e32_2666_d739_bec0, 0x3dd7_6a55_3d7e_7918,
        0x3d4d_e0fa_5941_6a39, 0x3c94_8716_cf36_81b4, 0x3b87_3f9f_2d2f_da99, 0x0000_0000_0000_0000,
    ],
    [
        0xbefd_d99a_221e_d573, 0x4070_593a_3735_bab4, 0xbfcc_ab65_4e44_835e, 0x3fd1_3ed8_0037_dbac,
        0xbf60_45b9_076c_c487, 0x3f20_85ee_7e8a_c170, 0x3f23_5246_2261_0430, 0xbeff_12a6_6269_11b4,
        0x3eab_9008_bca4_08af, 0x3e63_4df7_1865_f620, 0xbe05_bb1b_cf83_ca73, 0xbdaf_2ac1_43fb_6762,
        0xbd23_eae5_2a3d_bf57, 0xbc6b_5e3e_9ca0_955e, 0xbb5e_ca68_e2c1_ba2e, 0x0000_0000_0000_0000,
    ],
    [
        0x3f6e_3be6_8942_3841, 0xc0d2_6351_1f5b_aac1, 0x4016_9f73_b15e_be5c, 0xc025_c1dd_41cd_6cb5,
        0xbf58_fd89_fe05_e0d1, 0x3f73_f7af_01d5_af7a, 0xbf1e_40bd_ead1_7e6b, 0x3ee2_24cd_6c45_13e5,
        0xbe24_b645_e68e_eaa3, 0xbe4a_bfeb_fb72_bc83, 0x3dd5_1c38_f869_5ed3, 0x3d83_13ac_38c6_832b,
        0x3cf7_7879_3562_6685, 0x3c40_1ffc_49c6_bc29, 0xbabf_0b21_acfa_52ab, 0x0000_0000_0000_0000,
    ],
    [
        0xbf2a_1306_713a_4f3a, 0xc104_5e50_9116_b066, 0x4041_fab9_2509_84ce, 0xc045_8d09_0ec3_de95,
        0xbf74_949d_6011_3d63, 0x3f7c_9fd6_200d_0ade, 0x3f02_cd40_e0ad_0a9f, 0xbe85_8ab8_e019_f311,
        0xbe79_2fa6_323b_7cf8, 0x3e2d_f04d_6787_6402, 0xbd95_c72b_e95e_4d2c, 0xbd55_a89c_3020_3106,
        0xbcca_d6b3_bb9e_ff65, 0xbc12_705c_cd3d_d884, 0xba8e_0a4c_47ae_75f5, 0x0000_0000_0000_0000,
    ],
    [
        0xbf55_d7e7_6dc5_6871, 0x4152_8c38_809c_90c7, 0xc076_d57f_b519_0b02, 0x4085_f09f_888f_8ada,
        0x3fa2_4633_2a2f_cba5, 0xbfb2_9d85_1a89_6fcd, 0x3ed9_065a_e369_b212, 0xbeb8_e1ba_4c98_a030,
        0x3e6f_fd07_66ad_4016, 0xbe0c_63c2_9f50_5f5b, 0xbd7f_ab21_6b9e_0e49, 0x3d28_26b6_2056_aa27,
        0x3ca3_13e3_1762_f523, 0x3bea_37aa_2189_5319, 0x3ae5_c7f1_fd87_1496, 0x0000_0000_0000_0000,
    ],
    [
        0x3f35_e67a_b76a_26e7, 0x4184_8ee0_627d_8206, 0xc0a2_16d6_18b4_89ec, 0x40a5_b891_07c8_af4f,
        0x3fb6_9d83_7452_0eda, 0xbfbd_ed51_9f98_1716, 0xbef0_2d28_8b5b_3371, 0x3eb2_9098_1209_c1a6,
        0xbe56_7e92_4bf5_ff6e, 0x3de3_f7f7_de6b_0eb6, 0x3d69_ed18_bae3_ebbc, 0xbcf7_534c_4f3d_fa71,
        0xbc73_0b73_f1ea_ff20, 0xbbba_2cff_8135_d462, 0xbab5_a71b_5f7d_9035, 0x0000_0000_0000_0000,
    ],
];

/// The bits of the table for single precision.
const SINGLE: [[u32; 32]; 8] = [
    [
        0x0000_0000, 0x3d70_0000, 0x3d90_0000, 0x3db0_0000, 0x3dd0_0000, 0x3df0_0000, 0x3e10_0000, 0x3e30_0000,
        0x3e50_0000, 0x3e70_0000, 0x3e90_0000, 0x3eb0_0000, 0x3ed0_0000, 0x3ef0_0000, 0x3f10_0000, 0x3f30_0000,
        0x3f50_0000, 0x3f70_0000, 0x3f90_0000, 0x3fb0_0000, 0x3fd0_0000, 0x3ff0_0000, 0x4010_0000, 0x4030_0000,
        0x4050_0000, 0x4070_0000, 0x4090_0000, 0x40b0_0000, 0x40d0_0000, 0x40f0_0000, 0x4110_0000, 0x0000_0000,
    ],
    [
        0x0000_0000, 0x3d6f_b9c9, 0x3d8f_c35f, 0x3daf_9169, 0x3dcf_49ab, 0x3dee_e849, 0x3e0f_0ee8, 0x3e2e_4984,
        0x3e4d_2f8e, 0x3e6b_b32e, 0x3e8c_51cd, 0x3ea9_6163, 0x3ec5_43f1, 0x3edf_d735, 0x3f02_8438, 0x3f18_abf0,
        0x3f2b_c480, 0x3f3b_ec1c, 0x3f4f_2e5b, 0x3f61_3c53, 0x3f6c_e37d, 0x3f74_3c4f, 0x3f7a_5feb, 0x3f7d_ea85,
        0x3f7f_3b3d, 0x3f7f_b78c, 0x3f7f_efd4, 0x3f7f_fdd0, 0x3f7f_ffb4, 0x3f7f_fff6, 0x3f7f_ffff, 0x3f80_0000,
    ],
    [
        0x3f80_0000, 0x3f7f_1f84, 0x3f7e_bd11, 0x3f7e_1e5f, 0x3f7d_609f, 0x3f7c_842d, 0x3f7b_00e5, 0x3f78_9580,
        0x3f75_b8ad, 0x3f72_6fd9, 0x3f6c_c59b, 0x3f63_fb92, 0x3f59_ff97, 0x3f4f_11d7, 0x3f3d_7573, 0x3f24_f360,
        0x3f0c_bfe7, 0x3eec_1a69, 0x3eb0_a801, 0x3e67_53a2, 0x3e13_2f1a, 0x3db7_e7d3, 0x3d32_0845, 0x3c84_d3d4,
        0x3bc4_77b7, 0x3b10_d3da, 0x3a01_601e, 0x388c_1a3b, 0x3717_b0da, 0x35a4_3bce, 0x3383_06c6, 0x0000_0000,
    ],
    [
        0xb034_3c7b, 0xbd6e_e69d, 0xbd8f_0da7, 0xbdae_477d, 0xbdcd_2a1f, 0xbdeb_a80d, 0xbe0c_443b, 0xbe29_3cf3,
        0xbe44_f282, 0xbe5f_3651, 0xbe81_c7c0, 0xbe96_d7ca, 0xbea7_fb8e, 0xbeb5_0e9e, 0xbec1_2efe, 0xbec4_be92,
        0xbebc_e070, 0xbead_510e, 0xbe8e_f7d6, 0xbe4b_8704, 0xbe08_3237, 0xbdaf_7449, 0xbd2e_1ec4, 0xbc83_bf06,
        0xbbc3_e0b5, 0xbb10_aadc, 0xba01_57db, 0xb88c_18f2, 0xb717_b096, 0xb5a4_3bae, 0xb383_012c, 0x0000_0000,
    ],
    [
        0xbeaa_aaa5, 0xbeab_0612, 0xbea7_f01f, 0xbea4_e120, 0xbea3_87b7, 0xbea1_5962, 0xbe9d_57f7, 0xbe97_6b5a,
        0xbe90_230d, 0xbe88_0dff, 0xbe74_79b3, 0xbe4c_3d88, 0xbe21_2482, 0xbdeb_8cba, 0xbd5e_78ad, 0x3c6b_5e6e,
        0x3d83_9143, 0x3dc2_1ee1, 0x3de3_47af, 0x3dcb_ec96, 0x3d99_ef2d, 0x3d54_2ea1, 0x3cdd_e701, 0x3c2c_ca67,
        0x3b81_cb27, 0x3ac0_73a1, 0x39ac_3032, 0x383a_94d9, 0x36ca_081d, 0x355a_bd4c, 0x332b_3cb6, 0x0000_0000,
    ],
    [
        0xb76d_d6b9, 0xbe1c_276d, 0x3c1d_cf2f, 0x3dc1_a78d, 0x3d96_f985, 0x3da2_b61b, 0x3dc1_3397, 0x3dd2_f670,
        0x3df4_8a0a, 0x3e06_c5a8, 0x3e1a_3aba, 0x3e27_c405, 0x3e2e_78d0, 0x3e2c_3e44, 0x3e1d_3097, 0x3df4_a8f4,
        0x3da3_8508, 0x3d31_416a, 0x3b56_2657, 0xbcae_eac9, 0xbcce_9419, 0xbcaa_eac4, 0xbc49_e7d0, 0xbba7_1ddd,
        0xbb00_3b0e, 0xba3f_9a05, 0xb92c_08a7, 0xb7ba_9232, 0xb64a_0b0f, 0xb4da_c169, 0xb2ab_78ac, 0x0000_0000,
    ],
    [
        0x3e09_10e9, 0x4376_1143, 0x4165_ecdc, 0xc190_f756, 0xc08c_097d, 0xc02b_a813, 0xbf7f_6bda, 0x3f2b_1dc0,
        0x3ece_105d, 0x3f42_6a94, 0xbadb_0dc4, 0x3da4_3b17, 0xbd51_ab88, 0xbcae_a23d, 0xbd3b_6d8d, 0xbd6c_aaad,
        0xbd79_5bed, 0xbd5f_ddda, 0xbd03_8f3b, 0xbc1c_ad63, 0x3abb_4766, 0x3b95_f10b, 0x3b82_5873, 0x3afa_ea66,
        0x3a49_f878, 0x3999_6bf3, 0x388f_3e6c, 0x371b_b0e3, 0x35a8_a5e6, 0x3436_9b17, 0x3224_87b0, 0x0000_0000,
    ],
    [
        0xbc0e_2f66, 0x460b_da12, 0x43d6_38ef, 0xc3e1_1c3e, 0xc2ba_a4e9, 0xc249_da2d, 0xc185_9b82, 0x40dd_5b57,
        0x4049_4640, 0x40c7_30a8, 0xbf0f_160e, 0x3e30_e76f, 0xbea8_1387, 0xbdb2_6a1c, 0xbd35_1e57, 0xbb4c_01a0,
        0x3c1d_7bfb, 0x3c72_2cd1, 0x3c97_3f1c, 0x3c33_a31b, 0x3b86_2ef4, 0x3a27_b3d0, 0xba3b_5907, 0xba0e_fc22,
        0xb97f_9f0f, 0xb8c8_af50, 0xb7bd_ddfb, 0xb64f_2950, 0xb4e0_85b1, 0xb373_1dfa, 0xb15a_1f04, 0x0000_0000,
    ],
];

#[inline(always)]
fn polynomial<T: Real, const N: usize>(size: T, coefficient: impl Fn(usize) -> T) -> T {
    let y = size - coefficient(0);
    (1..N - 1).rev().fold(coefficient(N - 1), |sum, k| sum.fused(y, coefficient(k)))
}

#[inline(always)]
pub(super) fn double(x: f64) -> f64 {
    let high = x.to_bits() & 0x7ff8_0000_0000_0000;
    // Only the upper half matters: intervals start at powers of two and halfway between them.
    let index = (high.saturating_sub(0x3fc0_0000_0000_0000) >> 32).min(0x78_0000) >> 19;
    let index = (index & 15) as usize;
    let size = polynomial::<f64, 18>(x.abs(), |k| f64::from_bits(DOUBLE[k][index]));
    if high > 0x7fe0_0000_0000_0000 { special(x) } else { f64::from_bits(size.to_bits() | x.to_bits() & 1 << 63) }
}

#[inline(always)]
pub(super) fn single(x: f32) -> f32 {
    let high = x.to_bits() & 0x7fe0_0000;
    let index = (high.saturating_sub(0x3d40_0000).min(0x3e0_0000) >> 21) as usize & 31;
    let size = polynomial::<f32, 8>(x.abs(), |k| f32::from_bits(SINGLE[k][index]));
    if high > 0x7f00_0000 { special(x) } else { f32::from_bits(size.to_bits() | x.to_bits() & 1 << 31) }
}

fn special<T: Real>(x: T) -> T {
    if x.is_nan() { x } else { T::one().with_sign(x) }
}
