//! How long a plan's steps take, and collectives.

use shardwise_sys as sys;

use crate::compile::names;
use crate::convert::Strings;
use crate::handle::init;
use crate::{Blob, Context, DeviceKind, Dtype, Plan, Result};

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
    /// Only runs as a whole, with nothing timed inside them.
    pub whole: bool,
    /// As CUDA graphs, which are timed as a whole.
    pub graphs: bool,
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
        for (is_set, flag) in [
            (options.as_text, sys::SHW_BENCH_TEXT),
            (options.whole, sys::SHW_BENCH_WHOLE),
            (options.graphs, sys::SHW_BENCH_GRAPHS),
        ] {
            raw.flags |= if is_set { flag } else { 0 };
        }
        // SAFETY: all that is pointed to lives for the call.
        let blob = Blob::create(&self.keep, |out| unsafe { sys::shw_plan_bench(self.as_ptr(), &raw, out) })?;
        Ok(blob.to_text())
    }
}

/// Options of [`Context::bench_collectives`].
#[derive(Clone, Debug, Default)]
pub struct CollectiveBenchOptions<'a> {
    /// Of the ranks, outermost axis first; empty: one rank.
    pub mesh: &'a [(&'a str, i64)],
    /// Axes along which ranks communicate; empty: all.
    pub group: &'a [&'a str],
    /// Of the elements; None: f32.
    pub dtype: Option<Dtype>,
    /// The smallest size; None: 1 KiB.
    pub min_bytes: Option<i64>,
    /// The largest; None: 4 MiB.
    pub max_bytes: Option<i64>,
    /// From one size to the next; None: 4.
    pub factor: Option<i64>,
    /// None: the CPU.
    pub device: Option<DeviceKind>,
    /// Launches that are not counted; None: 5.
    pub warm_up: Option<i32>,
    /// Launches that are; None: 20.
    pub repeats: Option<i32>,
    /// The tables of nccl-tests, in place of JSON.
    pub as_text: bool,
}

impl Context {
    /// Times each collective between ranks in this process, by size, as nccl-tests does, and
    /// compares each element of the results with what it must be.
    #[track_caller]
    pub fn bench_collectives(&self, options: &CollectiveBenchOptions<'_>) -> Result<String> {
        let mut strings = Strings::default();
        let mut axes = Vec::new();
        for &(name, size) in options.mesh {
            axes.push(sys::shw_mesh_axis { name: strings.add(name)?, size });
        }
        let mut group = Vec::new();
        let mut raw = init(sys::shw_collective_bench_options_init);
        (raw.mesh_axes, raw.num_mesh_axes) = (axes.as_ptr(), axes.len());
        (raw.group, raw.num_group) = names(options.group, &mut strings, &mut group)?;
        raw.dtype = options.dtype.map_or(0, Dtype::raw);
        raw.min_bytes = options.min_bytes.unwrap_or(0);
        raw.max_bytes = options.max_bytes.unwrap_or(0);
        raw.factor = options.factor.unwrap_or(0);
        raw.device = options.device.map_or(0, DeviceKind::raw);
        raw.warm_up = options.warm_up.map_or(0, |launches| if launches == 0 { -1 } else { launches });
        raw.repeats = options.repeats.unwrap_or(0);
        raw.flags = if options.as_text { sys::SHW_BENCH_TEXT } else { 0 };
        // SAFETY: all that is pointed to lives for the call.
        let blob =
            Blob::create(&self.keep, |out| unsafe { sys::shw_bench_collectives(self.as_ptr(), &raw, out) })?;
        Ok(blob.to_text())
    }
}
