//! The flag that ends a call early.

use std::sync::Arc;

use shardwise_sys as sys;

use crate::handle::Keep;
use crate::Result;

handle! {
    /// The C flag.
    Flag, shw_cancel, shw_cancel_destroy, { Send, Sync }
}

/// A flag that any thread may raise. It cannot be lowered. Clones are the same flag. After it was
/// raised, calls that were given it end within 10 ms, with
/// [`Code::Cancelled`](crate::Code::Cancelled).
#[derive(Clone)]
pub struct Cancel(Arc<Flag>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Result<Self> {
        crate::library::ready()?;
        // SAFETY: the out-parameter is valid.
        Ok(Self(Arc::new(Flag::create(&Keep::default(), |out| unsafe { sys::shw_cancel_create(out) })?)))
    }

    /// Raises the flag: one atomic store.
    pub fn raise(&self) {
        // SAFETY: the flag is valid.
        unsafe { sys::shw_cancel_raise(self.0.as_ptr()) }
    }

    pub(crate) fn as_ptr(&self) -> *const sys::shw_cancel {
        self.0.as_ptr()
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cancel")
    }
}
