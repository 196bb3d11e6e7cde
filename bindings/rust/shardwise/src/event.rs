//! The end of a run.

use std::any::Any;
use std::future::Future;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use shardwise_sys as sys;

use crate::error::check;
use crate::world::nanoseconds;
use crate::{Code, Result};

handle! {
    /// The C event, which buffers keep until the run has ended.
    Done, shw_event, shw_event_destroy, { Send, Sync }
}

impl Done {
    pub(crate) fn is_done(&self) -> bool {
        // SAFETY: the event is valid.
        unsafe { sys::shw_event_query(self.as_ptr()) != 0 }
    }

    fn wait(&self, timeout_ns: i64) -> Result<()> {
        // SAFETY: the event is valid.
        check(unsafe { sys::shw_event_wait(self.as_ptr(), timeout_ns) })
    }
}

/// The first panic of a callback, until somebody takes it.
#[derive(Default)]
pub(crate) struct PanicSlot(Mutex<Option<Box<dyn Any + Send>>>);

impl PanicSlot {
    pub(crate) fn put(&self, panic: Box<dyn Any + Send>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
    }

    pub(crate) fn take(&self) -> Option<Box<dyn Any + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Resumes the panic of a callback if one made the call fail.
pub(crate) fn panic_or<T>(panics: &PanicSlot, result: Result<T>) -> Result<T> {
    if result.is_err() {
        if let Some(panic) = panics.take() {
            resume_unwind(panic)
        }
    }
    result
}

/// The end of a run on one rank: success, an error, or cancelled. It is also a future.
///
/// If the body of a manual region panics, the run fails. The first wait for one of the executor's
/// events resumes the panic.
pub struct Event {
    pub(crate) done: Arc<Done>,
    pub(crate) panics: Arc<PanicSlot>,
}

impl Event {
    /// Waits until the run has ended. Ranks wait for each other, so enqueue on all ranks of this
    /// process before you wait for any of them.
    pub fn wait(&self) -> Result<()> {
        panic_or(&self.panics, self.done.wait(-1))
    }

    /// Waits for at most this time. Ok(false): the run has not ended yet.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        match self.done.wait(nanoseconds(limit)) {
            Err(why) if why.code() == Code::DeadlineExceeded && !self.is_done() => Ok(false),
            // It may have ended since, and otherwise.
            Err(_) => self.wait().map(|()| true),
            Ok(()) => Ok(true),
        }
    }

    /// Whether the run has ended, with success or not.
    pub fn is_done(&self) -> bool {
        self.done.is_done()
    }

    /// Calls `done` once when the run has ended, with the code of its error. If the run has ended
    /// already, the call takes place at once; otherwise on a thread of the library, which must not
    /// be blocked. `done` must not use this crate. Use it to wake a thread or a task of the
    /// program. A panic in `done` is ignored.
    pub fn on_done(&self, done: impl FnOnce(Option<Code>) + Send + 'static) -> Result<()> {
        // SAFETY: the event is valid, and the library calls what it is given once, where it succeeds.
        notify(done, |call, user| unsafe { sys::shw_event_notify(self.done.as_ptr(), call, user) })
    }
}

type DoneFn = dyn FnOnce(Option<Code>) + Send;

/// Hands a closure to the library, which calls it once where `register` succeeds.
pub(crate) fn notify(
    done: impl FnOnce(Option<Code>) + Send + 'static,
    register: impl FnOnce(sys::shw_done_fn, *mut c_void) -> *mut sys::shw_status,
) -> Result<()> {
    let call: Box<DoneFn> = Box::new(done);
    let user = Box::into_raw(Box::new(call));
    let status = check(register(Some(on_done), user.cast()));
    if status.is_err() {
        // SAFETY: where the call fails, nobody calls `on_done`.
        drop(unsafe { Box::from_raw(user) });
    }
    status
}

unsafe extern "C" fn on_done(user: *mut c_void, code: sys::shw_code) {
    // SAFETY: `user` is the box of `notify`, and this is called once.
    let call = unsafe { Box::from_raw(user.cast::<Box<DoneFn>>()) };
    let code = (code != sys::SHW_OK).then_some(Code::from_raw(code));
    let _ = catch_unwind(AssertUnwindSafe(|| call(code)));
}

impl Future for Event {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if !self.is_done() {
            let waker = context.waker().clone();
            match self.on_done(move |_| waker.wake()) {
                Ok(()) => return Poll::Pending,
                Err(why) => return Poll::Ready(Err(why)),
            }
        }
        Poll::Ready(self.wait())
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event(done: {})", self.is_done())
    }
}
