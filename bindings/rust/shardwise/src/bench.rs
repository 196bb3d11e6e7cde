//! How long a plan's steps take.

use shardwise_sys as sys;

use crate::convert::Strings;
use crate::handle::init;
use crate::{Blob, DeviceKind, Plan, Result};

/// Options of [`Plan::bench`].
#[derive(Clone, Debug, Default)]
pub struct BenchOptions<'a> {
    /// None: the plan's first.
    pub entry: Option<&'a str>,
    /// None: the CPU.
    pub device: Option<DeviceKind>,
    /// Runs that are not counted; None: 2.
    pub warm_up: Option<i32>,
    /// Runs that are; None: 10.
    pub repeats: Option<i32>,
    /// A table for a person, in place of JSON.
    pub as_text: bool,
}

impl Plan {
    /// Times an entry on virtual ranks, kernel by kernel, beside its matrix products alone.
    pub fn bench(&self, options: &BenchOptions<'_>) -> Result<String> {
        let mut strings = Strings::default();
        let mut raw = init(sys::shw_bench_options_init);
        raw.entry = strings.optional(options.entry)?;
        raw.device = options.device.map_or(0, DeviceKind::raw);
        raw.warm_up = options.warm_up.map_or(0, |runs| if runs == 0 { -1 } else { runs });
        raw.repeats = options.repeats.unwrap_or(0);
        raw.flags = if options.as_text { sys::SHW_BENCH_TEXT } else { 0 };
        // SAFETY: all that is pointed to lives for the call.
        let blob = Blob::create(&self.keep, |out| unsafe { sys::shw_plan_bench(self.as_ptr(), &raw, out) })?;
        Ok(blob.to_text())
    }
}
