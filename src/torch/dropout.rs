//! Functions that clear random elements while a network learns. Follows
//! <https://pytorch.org/docs/2.7/nn.functional.html#dropout-functions>.

use super::python::in_python;
use call::{Row, function};

/// The rows of a function and of its form in place. Both change or return their argument in steps that are recorded.
macro_rules! pairs {
    ($($name:literal $doc:literal;)*) => {
        pub(crate) const PAIRS: &[Row] = &[$(
            function(concat!($name, "(Tensor input, float p, bool train) -> Tensor"), |c| in_python(c, concat!("dropout.", $name)), $doc)
                .recorded_in_steps(),
            function(concat!($name, "_(Tensor input, float p, bool train) -> Tensor"), |c| in_python(c, concat!("dropout.", $name, "_")), concat!($doc, " Works in place."))
                .recorded_in_steps(),
        )*];
    };
}

pairs! {
    "dropout" "Clears random elements and scales the others.";
    "alpha_dropout" "Replaces random elements; mean and variance stay.";
    "feature_dropout" "Clears random channels and scales the others.";
    "feature_alpha_dropout" "Replaces random channels; mean and variance stay.";
}

/// The rows of `torch.nn.functional`, which check the probability first.
macro_rules! functional {
    ($($name:literal $training:literal $doc:literal;)*) => {
        pub(crate) const FUNCTIONAL: &[Row] = &[$(
            function(
                concat!("nn.functional.", $name, "(Tensor input, float p=0.5, bool training=", $training, ", bool inplace=False) -> any"),
                |c| in_python(c, concat!("dropout.functional_", $name)),
                $doc,
            )
            .python($name)
            .recorded_in_steps(),
        )*];
    };
}

functional! {
    "dropout" "True" "Clears random elements and scales the others.";
    "dropout1d" "True" "Clears random channels of signals and scales the others.";
    "dropout2d" "True" "Clears random channels of images and scales the others.";
    "dropout3d" "True" "Clears random channels of volumes and scales the others.";
    "alpha_dropout" "False" "Replaces random elements; mean and variance stay.";
    "feature_alpha_dropout" "False" "Replaces random channels; mean and variance stay.";
}

pub(crate) const NATIVE: &[Row] = &[function(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    |c| in_python(c, "dropout.native"),
    "Clears random elements, and tells which were kept.",
)];
