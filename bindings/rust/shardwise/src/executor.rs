//! Running a plan, rank by rank.

use std::ptr::{null_mut, NonNull};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use shardwise_sys as sys;

use crate::convert::int32;
use crate::event::{Done, PanicSlot};
use crate::handle::{init, make, Keep};
use crate::region::RegionBody;
use crate::usage::{Usage, Use};
use crate::world::nanoseconds;
use crate::{Buffer, Code, Device, Error, Event, Plan, Region, Result, Session, World};

/// Options of [`Executor::new`].
#[derive(Default)]
pub struct ExecutorOptions {
    /// The device to run on; none: the CPU. Inputs must be in its memory.
    pub device: Option<Device>,
    /// Bodies of manual regions, with distinct names.
    pub regions: Vec<Region>,
    /// Time limit of a run, from the end of the run before it; none: no limit.
    pub time_limit: Option<Duration>,
    /// Number of runs that may be unfinished at once; a further [`Executor::enqueue`] blocks. 0: 4.
    pub max_in_flight: i32,
    /// Launches steps as CUDA graphs if they can be captured. The device must capture graphs.
    pub graphs: bool,
}

/// The ports of an entry, as the executor needs them.
struct EntryPorts {
    num_inputs: usize,
    /// For each output: which of the entry's inputs it overwrites.
    overwrites: Vec<Option<usize>>,
}

/// The C struct of options, and all that it points to, as long as the executors live.
pub(crate) struct RawOptions {
    bodies: Box<[RegionBody]>,
    regions: Vec<sys::shw_region>,
    options: ExecutorOptions,
}

impl RawOptions {
    pub(crate) fn new(mut options: ExecutorOptions, panics: &Arc<PanicSlot>) -> Self {
        let bodies = RegionBody::all(std::mem::take(&mut options.regions), panics);
        let regions = bodies.iter().map(RegionBody::raw).collect();
        Self { bodies, regions, options }
    }

    pub(crate) fn raw(&self) -> sys::shw_executor_options {
        debug_assert_eq!(self.bodies.len(), self.regions.len());
        let mut raw = init(sys::shw_executor_options_init);
        raw.device = self.device().map_or(null_mut(), Device::as_ptr);
        (raw.regions, raw.num_regions) = (self.regions.as_ptr(), self.regions.len());
        raw.time_limit_ns = self.options.time_limit.map_or(0, nanoseconds);
        raw.max_in_flight = self.options.max_in_flight;
        raw.flags = if self.options.graphs { sys::SHW_EXECUTOR_GRAPHS } else { 0 };
        raw
    }

    pub(crate) fn device(&self) -> Option<&Device> {
        self.options.device.as_ref()
    }
}

struct Inner {
    raw: NonNull<sys::shw_executor>,
    /// Usage of the executor's state, which every run may use.
    state: Arc<Usage>,
    panics: Arc<PanicSlot>,
    entries: Vec<EntryPorts>,
    options: RawOptions,
    keep: Keep,
    /// Owners of buffers that runs were given: a run may be the last user of one.
    lent: Mutex<Keep>,
}

// SAFETY: `Executor` lets one thread at a time in; abort may come from any thread.
unsafe impl Send for Inner {}
// SAFETY: likewise.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the last owner drops it. The call waits for all runs, and so for the regions' bodies,
        // which are fields and dropped after it.
        unsafe { sys::shw_executor_destroy(self.raw.as_ptr()) }
    }
}

/// One rank's kernels, memory and streams for a plan. Dropping it aborts unfinished runs.
pub struct Executor(Arc<Inner>);

/// Something whose runs any thread can abort.
pub(crate) trait Abort: Send + Sync {
    fn abort(&self);
}

impl Abort for Inner {
    fn abort(&self) {
        // SAFETY: any thread may call it while the executor lives.
        unsafe { sys::shw_executor_abort(self.raw.as_ptr()) }
    }
}

/// Aborts the runs of an executor or a runner from another thread.
#[derive(Clone)]
pub struct AbortHandle(Weak<dyn Abort>);

impl AbortHandle {
    pub(crate) fn new(of: Weak<impl Abort + 'static>) -> Self {
        Self(of)
    }

    /// As [`Executor::abort`] and [`Runner::abort`](crate::Runner::abort). Does nothing if the
    /// executor or runner was dropped.
    pub fn abort(&self) {
        if let Some(inner) = self.0.upgrade() {
            inner.abort();
        }
    }
}

/// One run of an entry on one rank.
#[derive(Default)]
pub struct Run<'a> {
    entry: usize,
    inputs: Vec<Option<&'a Buffer>>,
    outputs: Option<Vec<Option<&'a Buffer>>>,
    wait_for: Vec<&'a Event>,
    session: Option<&'a Session>,
}

impl<'a> Run<'a> {
    /// A run of this entry: [`Plan::find_entry`].
    pub fn new(entry: usize) -> Self {
        Self { entry, ..Self::default() }
    }

    /// This rank's pieces, in the order of [`PlanEntry::inputs`](crate::PlanEntry::inputs).
    #[must_use]
    pub fn inputs(mut self, inputs: &[&'a Buffer]) -> Self {
        self.inputs = inputs.iter().map(|&input| Some(input)).collect();
        self
    }

    /// As [`Run::inputs`], with none for each port that is not present.
    #[must_use]
    pub fn optional_inputs(mut self, inputs: &[Option<&'a Buffer>]) -> Self {
        self.inputs = inputs.to_vec();
        self
    }

    /// Buffers that receive outputs, in the order of
    /// [`PlanEntry::outputs`](crate::PlanEntry::outputs). For an output without a buffer, the run
    /// makes a new one. Give buffers to run step after step without new memory.
    #[must_use]
    pub fn outputs(mut self, outputs: &[Option<&'a Buffer>]) -> Self {
        self.outputs = Some(outputs.to_vec());
        self
    }

    /// Runs of other executors that must end before this one begins. If one of them failed, this
    /// run fails.
    #[must_use]
    pub fn wait_for(mut self, events: &[&'a Event]) -> Self {
        self.wait_for = events.to_vec();
        self
    }

    /// The session to run in. Without it, the run uses the executor's own.
    #[must_use]
    pub fn session(mut self, session: &'a Session) -> Self {
        self.session = Some(session);
        self
    }
}

impl Executor {
    /// Prepares one rank to run a plan. State is filled with zeros. One thread may create the
    /// executors of all local ranks in a loop.
    pub fn new(plan: &Plan, world: &World, rank: usize, options: ExecutorOptions) -> Result<Self> {
        let (rank, panics) = (int32("rank", rank)?, Arc::new(PanicSlot::default()));
        let options = RawOptions::new(options, &panics);
        let entries = entry_ports(plan)?;
        let raw = options.raw();
        // SAFETY: the options live for the call, and the bodies as long as the executor.
        let raw =
            make(|out| unsafe { sys::shw_executor_create(plan.as_ptr(), world.as_ptr(), rank, &raw, out) })?;
        let mut keep = world.keep.and(&plan.keep);
        if let Some(device) = options.device() {
            keep.add(device.keep());
        }
        Ok(Self(Arc::new(Inner {
            raw,
            state: Arc::default(),
            panics,
            entries,
            options,
            keep,
            lent: Mutex::default(),
        })))
    }

    pub(crate) fn parts(&mut self) -> (*mut sys::shw_executor, &Keep) {
        (self.0.raw.as_ptr(), &self.0.keep)
    }

    /// Puts one run of an entry on the executor's streams. Returns at once, unless
    /// [`ExecutorOptions::max_in_flight`] runs are unfinished. Every rank must enqueue the same
    /// entries in the same order. Returns the event of the run's end, and new buffers of the
    /// outputs for which `run` has none.
    pub fn enqueue(&mut self, run: Run<'_>) -> Result<(Event, Vec<Option<Buffer>>)> {
        let inner = &*self.0;
        let outputs = run.outputs.clone().unwrap_or_else(|| {
            vec![None; inner.entries.get(run.entry).map_or(0, |entry| entry.overwrites.len())]
        });
        let mut uses = Reserved::new(inner as *const Inner as usize, &run.wait_for);
        uses.all(inner, &run, &outputs)?;
        let raw_inputs: Vec<*mut sys::shw_buffer> =
            run.inputs.iter().map(|buffer| buffer.map_or(null_mut(), Buffer::as_ptr)).collect();
        let mut raw_outputs: Vec<_> =
            outputs.iter().map(|buffer| buffer.map_or(null_mut(), Buffer::as_ptr)).collect();
        let events: Vec<*mut sys::shw_event> = run.wait_for.iter().map(|event| event.done.as_ptr()).collect();
        let mut raw = init(sys::shw_run_init);
        raw.entry = run.entry;
        (raw.inputs, raw.num_inputs) = (raw_inputs.as_ptr(), raw_inputs.len());
        (raw.outputs, raw.num_outputs) = (raw_outputs.as_mut_ptr(), raw_outputs.len());
        (raw.wait_for, raw.num_wait_for) = (events.as_ptr(), events.len());
        raw.session = run.session.map_or(null_mut(), Session::as_ptr);
        let mut lent = inner.lent.lock().unwrap_or_else(PoisonError::into_inner);
        run.inputs.iter().chain(&outputs).flatten().for_each(|buffer| lent.add(buffer.keep()));
        drop(lent);
        // SAFETY: all arrays live for the call; the library keeps the buffers until the run has ended.
        let done = Done::create(&inner.keep, |out| unsafe {
            sys::shw_executor_enqueue(inner.raw.as_ptr(), &raw, out)
        })?;
        let done = Arc::new(done);
        uses.begin(&done);
        let made = self.made(&run, &outputs, &raw_outputs, &done);
        Ok((Event { done, panics: inner.panics.clone() }, made))
    }

    /// Handles of the outputs for which the run gave no buffer.
    fn made(
        &self,
        run: &Run<'_>,
        given: &[Option<&Buffer>],
        raw: &[*mut sys::shw_buffer],
        done: &Arc<Done>,
    ) -> Vec<Option<Buffer>> {
        let make_one = |index: usize| {
            let handle = NonNull::new(raw[index]).filter(|_| given[index].is_none())?;
            let overwritten = self.0.entries[run.entry].overwrites[index].and_then(|input| run.inputs[input]);
            if let Some(input) = overwritten {
                return Some(Buffer::share(handle, input.usage(), false, &self.0.keep));
            }
            let buffer = Buffer::own(handle, &self.0.keep);
            let mut reserved = Reserved::new(Arc::as_ptr(&self.0) as usize, &[]);
            if reserved.one(buffer.usage(), true).is_ok() {
                reserved.begin(done);
            }
            Some(buffer)
        };
        (0..raw.len()).map(make_one).collect()
    }

    /// The memory of a port that the executor holds, not a copy, to read and write between runs.
    pub fn state(&self, port: usize) -> Result<Buffer> {
        // SAFETY: any thread may call it.
        let raw = make(|out| unsafe { sys::shw_executor_get_state(self.0.raw.as_ptr(), port, out) })?;
        Ok(Buffer::share(raw, &self.0.state, true, &self.0.keep))
    }

    /// The device that the options named, if any.
    pub fn device(&self) -> Option<&Device> {
        self.0.options.device()
    }

    /// Aborts the runs that are under way or queued, on this rank and on those that communicate
    /// with it.
    pub fn abort(&self) {
        Abort::abort(&*self.0);
    }

    /// A handle that aborts runs from another thread, even while this one is inside
    /// [`Executor::enqueue`].
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::new(Arc::downgrade(&self.0))
    }

    /// Waits until all runs have ended, then clears the error. After a failure or an abort every
    /// rank must call it, equally often, before any of them runs again.
    pub fn reset(&mut self) {
        // SAFETY: no other thread is in the executor, but for abort, which is allowed.
        unsafe { sys::shw_executor_reset(self.0.raw.as_ptr()) }
    }
}

fn entry_ports(plan: &Plan) -> Result<Vec<EntryPorts>> {
    let ports = plan.ports()?;
    let of = |entry: crate::PlanEntry<'_>| EntryPorts {
        num_inputs: entry.inputs.len(),
        overwrites: entry
            .outputs
            .iter()
            .map(|&output| {
                let updated = ports[output].updates?;
                entry.inputs.iter().position(|&input| input == updated)
            })
            .collect(),
    };
    Ok(plan.entries()?.into_iter().map(of).collect())
}

/// Reserves the memory that a run is about to use. If the run is not enqueued, the memory is
/// released.
struct Reserved {
    executor: usize,
    after: Vec<Arc<Done>>,
    uses: Vec<(Arc<Usage>, bool)>,
}

impl Reserved {
    fn new(executor: usize, after: &[&Event]) -> Self {
        Self { executor, after: after.iter().map(|event| event.done.clone()).collect(), uses: Vec::new() }
    }

    fn one(&mut self, usage: &Arc<Usage>, writes: bool) -> Result<()> {
        usage.reserve(self.executor, writes, &self.after)?;
        self.uses.push((usage.clone(), writes));
        Ok(())
    }

    /// Reserves all memory that a run uses. Refuses memory that is both an input and an output,
    /// unless the plan says so; the C library cannot check this.
    fn all(&mut self, executor: &Inner, run: &Run<'_>, outputs: &[Option<&Buffer>]) -> Result<()> {
        let refuse = |why: String| Err(Error::new(Code::InvalidArgument, why));
        let buffers = || run.inputs.iter().chain(outputs).flatten();
        if buffers().any(|buffer| buffer.is_state()) {
            return refuse("a buffer is an executor's state: runs take a copy of it".into());
        }
        let entry = match executor.entries.get(run.entry) {
            Some(entry)
                if entry.num_inputs == run.inputs.len() && entry.overwrites.len() == outputs.len() =>
            {
                entry
            }
            _ => return Ok(()), // which C refuses
        };
        for (index, output) in outputs.iter().enumerate() {
            let written = match (output, entry.overwrites[index].and_then(|input| run.inputs[input])) {
                (Some(output), Some(input)) if !Arc::ptr_eq(output.usage(), input.usage()) => {
                    return refuse(format!(
                        "output {index} overwrites an input, and is given another buffer"
                    ));
                }
                (Some(output), _) => output.usage(),
                (None, Some(input)) => input.usage(),
                (None, None) => continue,
            };
            let taken = run.inputs.iter().enumerate().any(|(input, buffer)| {
                buffer.map_or(false, |buffer| Arc::ptr_eq(buffer.usage(), written))
                    && entry.overwrites[index] != Some(input)
            });
            if taken || self.uses.iter().any(|(usage, _)| Arc::ptr_eq(usage, written)) {
                return refuse(format!("output {index} has memory that the run uses otherwise"));
            }
            self.one(written, true)?;
        }
        for input in run.inputs.iter().flatten() {
            self.one(input.usage(), false)?;
        }
        self.one(&executor.state, true)
    }

    /// The run was enqueued.
    fn begin(&mut self, done: &Arc<Done>) {
        for (usage, writes) in self.uses.drain(..) {
            usage.release(Some(Use { done: done.clone(), executor: self.executor, writes }));
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        for (usage, _) in self.uses.drain(..) {
            usage.release(None);
        }
    }
}
