//! All ranks of a plan in this process, used as one.

use std::future::Future;
use std::pin::Pin;
use std::ptr::{null_mut, NonNull};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use shardwise_sys as sys;

use crate::convert::{c_string, Strings};
use crate::error::check;
use crate::event::{notify, panic_or, PanicSlot};
use crate::executor::RawOptions;
use crate::handle::{make, Keep};
use crate::world::nanoseconds;
use crate::{AbortHandle, Buffer, Code, Element, ExecutorOptions, Plan, Result, TensorView, World};

struct Inner {
    raw: NonNull<sys::shw_runner>,
    panics: Arc<PanicSlot>,
    keep: Keep,
    _options: RawOptions,
}

// SAFETY: `Runner` lets one thread at a time in; abort may come from any thread.
unsafe impl Send for Inner {}
// SAFETY: likewise.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the last owner drops it. The call waits for all runs, and so for the regions' bodies,
        // which are fields and dropped after it.
        unsafe { sys::shw_runner_destroy(self.raw.as_ptr()) }
    }
}

impl crate::executor::Abort for Inner {
    fn abort(&self) {
        // SAFETY: any thread may call it.
        unsafe { sys::shw_runner_abort(self.raw.as_ptr()) }
    }
}

/// Runs a plan on all its ranks, in this process, with whole tensors. It cuts inputs into pieces,
/// runs all ranks, and puts outputs together. After the first runs of an entry, further runs
/// allocate no memory for tensors.
///
/// State, such as parameters that executors keep, is set and read by its name.
pub struct Runner(Arc<Inner>);

handle! {
    /// The pending run of C.
    PendingHandle, shw_pending, shw_pending_destroy, { Send, Sync }
}

/// A run that a [`Runner`] started. Dropping it does not stop the run. When you await it, it
/// returns itself after the run has ended, and you can read the outputs.
///
/// If the body of a manual region panics, the run fails. The first wait for one of the runner's
/// runs resumes the panic.
pub struct Pending {
    handle: Arc<PendingHandle>,
    panics: Arc<PanicSlot>,
}

impl Runner {
    /// Prepares virtual ranks in this process for all ranks of a plan.
    pub fn new(plan: &Plan) -> Result<Self> {
        Self::with_options(plan, None, ExecutorOptions::default())
    }

    /// Prepares the ranks of `world`, all of which must be in this process; none: new virtual
    /// ranks.
    /// `options` are those of the executor of each rank.
    pub fn with_options(plan: &Plan, world: Option<&World>, options: ExecutorOptions) -> Result<Self> {
        let panics = Arc::new(PanicSlot::default());
        let options = RawOptions::new(options, &panics);
        let world_raw = world.map_or(null_mut(), World::as_ptr);
        // SAFETY: the options live for the call, and the bodies as long as the runner.
        let raw =
            make(|out| unsafe { sys::shw_runner_create(plan.as_ptr(), world_raw, &options.raw(), out) })?;
        let mut keep = plan.keep.clone();
        world.iter().for_each(|world| keep.add(&world.keep));
        options.device().iter().for_each(|device| keep.add(device.keep()));
        Ok(Self(Arc::new(Inner { raw, panics, keep, _options: options })))
    }

    /// Writes a tensor that the executors keep, by the name of its port: "param.w".
    pub fn set_state(&mut self, name: &str, whole: TensorView<'_>) -> Result<()> {
        let (name, whole) = (c_string(name)?, whole.raw());
        // SAFETY: name and tensor live for the call.
        check(unsafe { sys::shw_runner_set_state(self.0.raw.as_ptr(), name.as_ptr(), &whole) })
    }

    /// A copy of a tensor that the executors keep, whole and row-major, on the CPU.
    pub fn gather_state(&mut self, name: &str) -> Result<Buffer> {
        let name = c_string(name)?;
        // SAFETY: the name lives for the call.
        let whole =
            make(|out| unsafe { sys::shw_runner_gather_state(self.0.raw.as_ptr(), name.as_ptr(), out) })?;
        Ok(Buffer::own(whole, &self.0.keep))
    }

    /// A copy of the elements of a tensor that the executors keep, row-major.
    pub fn state<T: Element>(&mut self, name: &str) -> Result<Vec<T>> {
        self.gather_state(name)?.read()
    }

    /// Runs an entry on all ranks, and waits for the end of the run. `inputs` must have all inputs
    /// that the entry takes, by name; the error says which one is missing or unknown. Read the
    /// outputs from the result.
    ///
    /// For an entry with buckets, `entry` is the name of a bucket: [`Plan::choose_bucket`].
    pub fn run(&mut self, entry: &str, inputs: &[(&str, TensorView<'_>)]) -> Result<Pending> {
        let pending = self.start(entry, inputs)?;
        pending.wait()?;
        Ok(pending)
    }

    /// Starts a run, and returns without waiting for its end. If
    /// [`ExecutorOptions::max_in_flight`] runs are unfinished, it first waits for one of them. Runs
    /// take place in the order in which they are started. Inputs are copied.
    ///
    /// If a run fails, the runs started after it fail too. The next start then waits for all of
    /// them, and the runner can be used again.
    pub fn start(&mut self, entry: &str, inputs: &[(&str, TensorView<'_>)]) -> Result<Pending> {
        let mut strings = Strings::default();
        let entry = strings.add(entry)?;
        let mut lent = Vec::with_capacity(inputs.len());
        for (name, whole) in inputs {
            lent.push(sys::shw_named_tensor { name: strings.add(name)?, tensor: whole.raw() });
        }
        let runner = self.0.raw.as_ptr();
        // SAFETY: strings and tensors live for the call, which copies the inputs.
        let handle = PendingHandle::create(&self.0.keep, |out| unsafe {
            sys::shw_runner_start(runner, entry, lent.as_ptr(), lent.len(), out)
        });
        let handle = Arc::new(panic_or(&self.0.panics, handle)?);
        Ok(Pending { handle, panics: self.0.panics.clone() })
    }

    /// Stops all runs. The runner can be used again.
    pub fn abort(&self) {
        crate::executor::Abort::abort(&*self.0);
    }

    /// A handle that aborts runs from another thread, even while this one is inside
    /// [`Runner::run`].
    pub fn abort_handle(&self) -> AbortHandle {
        let weak: Weak<Inner> = Arc::downgrade(&self.0);
        AbortHandle::new(weak)
    }
}

impl Pending {
    /// Waits until the run has ended on all ranks.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the handle is valid.
        let status = unsafe { sys::shw_pending_wait(self.handle.as_ptr(), -1) };
        panic_or(&self.panics, check(status))
    }

    /// Waits for at most this time. Ok(false): the run has not ended yet.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        // SAFETY: the handle is valid.
        let status = unsafe { sys::shw_pending_wait(self.handle.as_ptr(), nanoseconds(limit)) };
        match check(status) {
            Err(why) if why.code() == Code::DeadlineExceeded && !self.is_done() => Ok(false),
            // It may have ended since, and otherwise.
            Err(_) => self.wait().map(|()| true),
            Ok(()) => Ok(true),
        }
    }

    /// Whether the run has ended, with success or not.
    pub fn is_done(&self) -> bool {
        // SAFETY: the handle is valid.
        unsafe { sys::shw_pending_query(self.handle.as_ptr()) != 0 }
    }

    /// Calls `done` once when the run has ended on all ranks, with the code of its error. If the
    /// run has ended already, the call takes place at once; otherwise on a thread of the library,
    /// which must not be blocked. `done` must not use this crate. Use it to wake a thread or a task
    /// of the program. A panic in `done` is ignored.
    pub fn on_done(&self, done: impl FnOnce(Option<Code>) + Send + 'static) -> Result<()> {
        // SAFETY: the handle is valid, and the library calls what it is given once, where it succeeds.
        notify(done, |call, user| unsafe { sys::shw_pending_notify(self.handle.as_ptr(), call, user) })
    }

    /// Waits for the run, and returns an output: whole, row-major, on the CPU.
    pub fn gather(&self, name: &str) -> Result<Buffer> {
        self.wait()?;
        let name = c_string(name)?;
        // SAFETY: the name lives for the call.
        let whole = make(|out| unsafe { sys::shw_pending_gather(self.handle.as_ptr(), name.as_ptr(), out) })?;
        Ok(Buffer::own(whole, &self.handle.keep))
    }

    /// Waits for the run, and returns a copy of an output's elements, whole and row-major.
    pub fn read<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.gather(name)?.read()
    }
}

impl Future for Pending {
    type Output = Result<Pending>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.is_done() {
            let waker = context.waker().clone();
            match self.on_done(move |_| waker.wake()) {
                Ok(()) => return Poll::Pending,
                Err(why) => return Poll::Ready(Err(why)),
            }
        }
        let ended = Self { handle: self.handle.clone(), panics: self.panics.clone() };
        Poll::Ready(self.wait().map(|()| ended))
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending(done: {})", self.is_done())
    }
}
