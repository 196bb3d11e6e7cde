//! Who uses a tensor's memory: what keeps the host from writing under a run, and runs of different
//! executors from each other. Handles of the same memory share one usage.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::Done;
use crate::{Code, Error, Result};

/// A run that uses the memory.
pub(crate) struct Use {
    pub(crate) done: Arc<Done>,
    /// Which executor: runs of one are in order.
    pub(crate) executor: usize,
    pub(crate) writes: bool,
}

#[derive(Default)]
pub(crate) struct Uses {
    runs: Vec<Use>,
    /// Runs that are being enqueued.
    reserved: usize,
}

#[derive(Default)]
pub(crate) struct Usage(Mutex<Uses>);

impl Usage {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Uses> {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uses.runs.retain(|run| !run.done.is_done());
        uses
    }

    /// To be called before a run is enqueued. `after`: runs that it waits for.
    pub(crate) fn reserve(&self, executor: usize, writes: bool, after: &[Arc<Done>]) -> Result<()> {
        let mut uses = self.lock();
        let conflict = uses.runs.iter().any(|run| {
            run.executor != executor
                && (run.writes || writes)
                && !after.iter().any(|done| Arc::ptr_eq(done, &run.done))
        });
        if conflict {
            return busy("an unfinished run of another executor uses this buffer: let the run wait for it");
        }
        uses.reserved += 1;
        Ok(())
    }

    /// To be called when the run was enqueued, or was refused.
    pub(crate) fn release(&self, run: Option<Use>) {
        let mut uses = self.lock();
        uses.reserved -= 1;
        uses.runs.extend(run);
    }
}

impl Uses {
    /// Fails if the host must not write.
    pub(crate) fn check_idle(&self) -> Result<()> {
        if self.reserved > 0 || !self.runs.is_empty() {
            return busy("a run that uses this buffer has not ended: wait for that run first");
        }
        Ok(())
    }

    /// Fails if the host must not read.
    pub(crate) fn check_readable(&self) -> Result<()> {
        if self.reserved > 0 || self.runs.iter().any(|run| run.writes) {
            return busy("a run that writes this buffer has not ended: wait for that run first");
        }
        Ok(())
    }
}

fn busy<T>(why: &str) -> Result<T> {
    Err(Error::new(Code::FailedPrecondition, why))
}
