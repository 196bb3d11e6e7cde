//! Progress reports of long calls.

use std::any::Any;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

use shardwise_sys as sys;

use crate::convert::text;

/// Whether a call should continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue the call.
    Continue,
    /// End the call with [`Code::Cancelled`](crate::Code::Cancelled).
    Cancel,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Part of the call that is under way: "load", "rewrite", "strategies", "price", "solve",
    /// "lower", …
    pub phase: &'a str,
    /// Cost of the best placement so far; infinity: none yet.
    pub best_us: f64,
    /// Proven lower bound of all placements; -infinity: none yet.
    pub bound_us: f64,
    /// Seconds since the call began.
    pub elapsed_s: f64,
}

/// A closure that is lent to one call, and the panic of the closure, if any.
pub(crate) struct Hook<'a> {
    call: Option<&'a mut dyn FnMut(&Progress<'_>) -> Flow>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'a> Hook<'a> {
    pub(crate) fn new(call: &'a mut dyn FnMut(&Progress<'_>) -> Flow) -> Self {
        Self { call: Some(call), panic: None }
    }

    pub(crate) fn none() -> Self {
        Self { call: None, panic: None }
    }

    /// What C takes: the function, and this hook, which must stay where it is for the call.
    pub(crate) fn raw(&mut self) -> (sys::shw_progress_fn, *mut c_void) {
        match self.call {
            Some(_) => (Some(on_progress), (self as *mut Self).cast()),
            None => (None, null_mut()),
        }
    }

    /// To be called after the call: resumes a panic of the closure.
    pub(crate) fn finish(self) {
        if let Some(panic) = self.panic {
            resume_unwind(panic)
        }
    }
}

unsafe extern "C" fn on_progress(user: *mut c_void, progress: *const sys::shw_progress) -> i32 {
    // SAFETY: `user` is the hook that the caller lent for the call; the library makes one call at a time.
    let (hook, raw) = unsafe { (&mut *user.cast::<Hook<'_>>(), &*progress) };
    let call = match &mut hook.call {
        Some(call) if hook.panic.is_none() => call,
        _ => return 1,
    };
    // SAFETY: the string is lent for the call.
    let phase = unsafe { text(raw.phase) };
    let seen = Progress { phase, best_us: raw.best_us, bound_us: raw.bound_us, elapsed_s: raw.elapsed_s };
    match catch_unwind(AssertUnwindSafe(|| call(&seen))) {
        Ok(flow) => i32::from(flow == Flow::Cancel),
        Err(panic) => {
            hook.panic = Some(panic); // must not unwind through C++
            1
        }
    }
}
