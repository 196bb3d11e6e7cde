//! Memory that entries of an executor share.

use shardwise_sys as sys;

use crate::{Executor, Result};

handle! {
    /// Keeps values that one entry of an executor leaves for later entries, such as the activations
    /// of a forward pass for the backward pass. An executor has a session of its own. With
    /// additional sessions, several may be under way at once: forward, forward, backward, backward.
    Session, shw_session, shw_session_destroy, { Send, Sync }
}

impl Session {
    /// An additional session of an executor.
    pub fn new(executor: &mut Executor) -> Result<Self> {
        let (raw, keep) = executor.parts();
        // SAFETY: the executor is valid, and no other thread is in it.
        Self::create(keep, |out| unsafe { sys::shw_session_create(raw, out) })
    }
}
