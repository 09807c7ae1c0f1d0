//! placeholder
pub fn rhai_form(_source: &str, _is_defined: &dyn Fn(&str) -> bool) -> Result<String, String> { Err("no form".to_owned()) }
