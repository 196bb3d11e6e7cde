//! The operations that graphs may have.

use shardwise_sys as sys;

use crate::convert::{c_string, text, FromC};
use crate::handle::{filled, number};
use crate::{ParamKind, Result};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op(usize);

/// A parameter of an operation: operands come first, then attributes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpParam {
    /// Name of the attribute, if the parameter is one.
    pub name: &'static str,
    /// The kind of value that it takes.
    pub kind: ParamKind,
    /// Whether it must be given.
    pub required: bool,
    /// For an attribute: its value if it is absent, as text.
    pub default_value: Option<&'static str>,
}

impl Op {
    /// All operations.
    pub fn all() -> impl Iterator<Item = Op> {
        crate::library::must_be_ready();
        // SAFETY: takes nothing.
        (0..unsafe { sys::shw_op_count() }).map(Op)
    }

    /// Finds an operation by its name. The error offers names like it.
    pub fn find(name: &str) -> Result<Op> {
        crate::library::ready()?;
        let name = c_string(name)?;
        // SAFETY: the string is valid for the call.
        Ok(Op(number(|out| unsafe { sys::shw_op_find(name.as_ptr(), out) })?))
    }

    /// Its name, as [`Graph::op`](crate::Graph::op) takes it.
    pub fn name(self) -> &'static str {
        // SAFETY: the string lives as long as the library.
        unsafe { text(sys::shw_op_name(self.0)) }
    }

    /// Its parameters.
    pub fn params(self) -> Result<Vec<OpParam>> {
        // SAFETY: takes any number.
        (0..unsafe { sys::shw_op_num_params(self.0) })
            .map(|index| {
                // SAFETY: strings live as long as the library.
                unsafe {
                    let raw =
                        filled(sys::shw_op_param_init, |out| sys::shw_op_get_param(self.0, index, out))?;
                    Ok(OpParam {
                        name: text(raw.name),
                        kind: ParamKind::from_raw(raw.kind),
                        required: raw.required != 0,
                        default_value: FromC::from_c(raw.default_value),
                    })
                }
            })
            .collect()
    }
}
