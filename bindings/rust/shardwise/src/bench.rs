//! Measures how long the steps of a plan take, and how long collectives take.

use shardwise_sys as sys;

use crate::compile::names;
use crate::convert::Strings;
use crate::handle::init;
use crate::{Blob, Context, DeviceKind, Dtype, Plan, Result};

/// Options of [`Plan::bench`].
#[derive(Clone, Debug, Default)]
pub struct BenchOptions<'a> {
    /// Name of the entry; None: the plan's first.
    pub entry: Option<&'a str>,
    /// The kind of device that the ranks run on; None: the CPU.
    pub device: Option<DeviceKind>,
    /// Number of runs before those that are timed; None: 2.
    pub warm_up: Option<i32>,
    /// Number of runs that are timed; None: 10.
    pub repeats: Option<i32>,
    /// The result is a table for a person instead of JSON.
    pub as_text: bool,
    /// Times only whole runs, not the kernels inside them.
    pub whole: bool,
    /// Launches runs as CUDA graphs, and times only whole runs.
    pub graphs: bool,
}

impl Plan {
    /// Times an entry on virtual ranks in this process, kernel by kernel, on made-up inputs. For
    /// comparison, its matrix products alone are timed too.
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
    /// The mesh of the ranks, outermost axis first; empty: one rank.
    pub mesh: &'a [(&'a str, i64)],
    /// The axes along which the ranks communicate; empty: all.
    pub group: &'a [&'a str],
    /// Type of the elements; None: f32.
    pub dtype: Option<Dtype>,
    /// The smallest size in bytes; None: 1 KiB.
    pub min_bytes: Option<i64>,
    /// The largest size in bytes; None: 4 MiB.
    pub max_bytes: Option<i64>,
    /// The factor from one size to the next; None: 4.
    pub factor: Option<i64>,
    /// The kind of device that the ranks run on; None: the CPU.
    pub device: Option<DeviceKind>,
    /// Number of launches before those that are timed; None: 5.
    pub warm_up: Option<i32>,
    /// Number of launches that are timed; None: 20.
    pub repeats: Option<i32>,
    /// The result is the tables that nccl-tests prints, instead of JSON.
    pub as_text: bool,
}

impl Context {
    /// Times each collective between ranks in this process, at a series of sizes, as nccl-tests
    /// does. Compares each element of the results with its expected value.
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
