//! Detects NaN gradients while they are computed.
//! Follows <https://pytorch.org/docs/2.7/autograd.html#anomaly-detection>.

use call::state::State;
use call::{Call, Row, function};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use tensor::Result;
use value::{Object, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "autograd.detect_anomaly(bool check_nan=True) -> any",
        |c| {
            c.state.warn_once(
                "UserWarning",
                "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for \
                 debugging.",
            );
            mode(c, "torch.autograd.anomaly_mode.detect_anomaly", true, 0)
        },
        "Creates a context in which a gradient that is NaN is an error.",
    )
    .python("detect_anomaly"),
    function(
        "autograd.set_detect_anomaly(bool mode, bool check_nan=True) -> any",
        |c| {
            let on = c.bool(0)?;
            let made = mode(c, "torch.autograd.anomaly_mode.set_detect_anomaly", on, 1)?;
            c.state.anomaly.set((on, c.bool(1)?));
            Ok(made)
        },
        "Makes NaN gradients errors, or stops doing so; as a context, until its end.",
    )
    .python("set_detect_anomaly"),
    function(
        "is_anomaly_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.anomaly.get().0)),
        "Returns whether anomaly detection is on.",
    ),
    function(
        "is_anomaly_check_nan_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.anomaly.get().1)),
        "Returns whether anomaly detection looks for NaN.",
    ),
];

/// The context managers `detect_anomaly` and `set_detect_anomaly`.
struct AnomalyMode {
    class: &'static str,
    wanted: (bool, bool),
    before: Cell<(bool, bool)>,
}

fn mode(call: &Call, class: &'static str, on: bool, check: usize) -> Result<Value> {
    let (wanted, before) = ((on, call.bool(check)?), Cell::new(call.state.anomaly.get()));
    Ok(Value::Object(Rc::new(AnomalyMode { class, wanted, before })))
}

impl Object for AnomalyMode {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).map(|state| {
            state.anomaly.set(self.wanted);
            Some(Value::None)
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        State::of(session)?.anomaly.set(self.before.get());
        Ok(())
    }
}
