//! What entries leave to entries that run after them.

use shardwise_sys as sys;

use crate::{Executor, Result};

handle! {
    /// Memory that entries of one executor share when they run one after another: what a forward pass
    /// leaves, the backward pass finds. An executor has a session of its own; further ones let several
    /// be under way at once.
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
