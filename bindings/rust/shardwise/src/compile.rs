//! Options of a plan.

use std::os::raw::c_char;
use std::ptr::null;
use std::time::Duration;

use shardwise_sys as sys;

use crate::convert::{bytes, Strings};
use crate::handle::init;
use crate::progress::Hook;
use crate::{Cancel, Dtype, Result, Rules};

/// How much of the parameters a rank may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// The smallest shard of every parameter. The default.
    Smallest,
    /// No limit.
    None,
    /// On average at most this share, in (0, 1].
    Factor(f64),
}

impl Budget {
    pub(crate) fn raw(self) -> (sys::shw_param_budget, f64) {
        match self {
            Self::Smallest => (sys::SHW_PARAM_BUDGET_SMALLEST, 0.0),
            Self::None => (sys::SHW_PARAM_BUDGET_NONE, 0.0),
            Self::Factor(share) => (sys::SHW_PARAM_BUDGET_FACTOR, share),
        }
    }
}

/// Which communication counts in the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overlap {
    /// All communication counts in full. The default, except for the optimum of
    /// [`Planner::compare`](crate::Planner::compare): its default is `Simulated`.
    None,
    /// Communication that depends on parameters alone, or that only gradients depend on, counts
    /// with this factor: from 0 (it is free) to 1 (it counts in full).
    Prefetch(f64),
    /// Gathers of parameters and reductions of gradients run beside the compute next to them. Only
    /// what exceeds this share of that compute counts; in (0, 1].
    Bounded(f64),
    /// All communication counts in full. Several placements are tried, and the plan has the one
    /// with the shortest simulated step.
    Simulated,
}

/// Options of [`Plan::compile`](crate::Plan::compile), [`Planner::new`](crate::Planner::new) and
/// [`Search::new`](crate::Search::new). Fields that are not set have the library's defaults.
///
/// Layouts are texts with one placement for each mesh axis, such as `"S(0)R"`. `R`: replicated.
/// `S(d)`: dim `d` is divided along the axis. `P`: the ranks hold partial sums.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    flags: u64,
    mesh: Vec<(String, i64)>,
    hardware: Option<String>,
    hardware_description: Vec<u8>,
    entries: Vec<String>,
    buckets: Vec<(Option<String>, String, Vec<i64>)>,
    input_layout: Option<String>,
    output_layout: Option<String>,
    input_layouts: Vec<(String, String)>,
    output_layouts: Vec<(String, String)>,
    pins: Vec<(String, String)>,
    without: Vec<String>,
    rules: Option<Rules>,
    grad_reduce_dtype: Option<Dtype>,
    memory_limit_bytes: i64,
    optimizer_factor: f64,
    param_budget: Option<Budget>,
    recompute: Option<String>,
    prefetch_bytes: i64,
    prefetch_depth: i64,
    products_between_reductions: i64,
    fuse_bytes: i64,
    host_memory_bytes: i64,
    overlap: Option<Overlap>,
    time_limit: Option<Duration>,
    gap: f64,
    cancel: Option<Cancel>,
    num_threads: i32,
}

impl CompileOptions {
    /// The defaults: one device, an H100.
    pub fn new() -> Self {
        Self::default()
    }

    /// The mesh, outermost axis first: `&[("dp", 2), ("tp", 4)]`.
    #[must_use]
    pub fn mesh(mut self, axes: &[(&str, i64)]) -> Self {
        self.mesh = axes.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
        self
    }

    /// The machine, by a name of [`hardware_names`](crate::hardware_names).
    #[must_use]
    pub fn hardware(mut self, name: &str) -> Self {
        self.hardware = Some(name.to_owned());
        self
    }

    /// The machine, by its description in JSON: [`Hardware::to_json`](crate::Hardware::to_json).
    #[must_use]
    pub fn hardware_description(mut self, json: &str) -> Self {
        self.hardware_description = json.as_bytes().to_vec();
        self
    }

    /// Entries to plan in place of those of the graph: "step", "forward", "backward", "infer".
    #[must_use]
    pub fn entries(mut self, names: &[&str]) -> Self {
        self.entries = names.iter().map(|&name| name.to_owned()).collect();
        self
    }

    /// Sizes of a symbol at which `entry` is planned. None: every entry that depends on the symbol.
    #[must_use]
    pub fn buckets(mut self, entry: Option<&str>, symbol: &str, sizes: &[i64]) -> Self {
        self.buckets.push((entry.map(str::to_owned), symbol.to_owned(), sizes.to_vec()));
        self
    }

    /// The layout of every input that is not a parameter, buffer or state.
    #[must_use]
    pub fn input_layout(mut self, layout: &str) -> Self {
        self.input_layout = Some(layout.to_owned());
        self
    }

    /// The layout of every result.
    #[must_use]
    pub fn output_layout(mut self, layout: &str) -> Self {
        self.output_layout = Some(layout.to_owned());
        self
    }

    /// The layout of the inputs whose names match: `*` and `?` are wildcards.
    #[must_use]
    pub fn input_layout_of(mut self, port: &str, layout: &str) -> Self {
        self.input_layouts.push((port.to_owned(), layout.to_owned()));
        self
    }

    /// The layout of the outputs whose names match.
    #[must_use]
    pub fn output_layout_of(mut self, port: &str, layout: &str) -> Self {
        self.output_layouts.push((port.to_owned(), layout.to_owned()));
        self
    }

    /// Constrains the layouts of the nodes that match `pattern`. A pattern is a name with
    /// wildcards, "module:PATH" or "op:NAME", or several of these joined by `&`, all of which must
    /// match.
    ///
    /// `layout` may be a list, `"S(0)R;RR"`; may have `*` for any placement, `"S(0)*"`; or may be
    /// "same": the same layout for all nodes that match.
    #[must_use]
    pub fn pin(mut self, pattern: &str, layout: &str) -> Self {
        self.pins.push((pattern.to_owned(), layout.to_owned()));
        self
    }

    /// Constraints to leave out, by their names in [`Error::conflicts`](crate::Error::conflicts).
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.without.extend(names.iter().map(|&name| name.to_owned()));
        self
    }

    /// Which strategies to choose from.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Casts gradients to this dtype before they are reduced.
    #[must_use]
    pub fn grad_reduce_dtype(mut self, dtype: Dtype) -> Self {
        self.grad_reduce_dtype = Some(dtype);
        self
    }

    /// Memory limit of a rank, in bytes, at every point of a step.
    #[must_use]
    pub fn memory_limit_bytes(mut self, bytes: i64) -> Self {
        self.memory_limit_bytes = bytes;
        self
    }

    /// Bytes of optimizer state for each byte of a parameter. They count in the memory limit.
    #[must_use]
    pub fn optimizer_factor(mut self, factor: f64) -> Self {
        self.optimizer_factor = factor;
        self
    }

    /// How much of the parameters a rank may hold.
    #[must_use]
    pub fn param_budget(mut self, budget: Budget) -> Self {
        self.param_budget = Some(budget);
        self
    }

    /// What the backward pass computes again instead of keeping it: "none", "cheap", "selective",
    /// "full" or "every:2". "auto": as much as the memory limit requires. With "+gathered"
    /// appended, gathered parameters are kept. With "+first-add" appended, the first sum in each
    /// block that adds the block's input is kept.
    #[must_use]
    pub fn recompute(mut self, policy: &str) -> Self {
        self.recompute = Some(policy.to_owned());
        self
    }

    /// Limits for collectives that start early. `bytes`: the memory that they may take in addition;
    /// 0: 512 MiB. `depth`: the number of compute steps between a collective and the first step
    /// that reads its result; 0: 256.
    #[must_use]
    pub fn prefetch(mut self, bytes: i64, depth: i64) -> Self {
        (self.prefetch_bytes, self.prefetch_depth) = (bytes, depth);
        self
    }

    /// The schedule may move products that compute gradients of weights to a later point. This
    /// limits the number of products between two reductions of gradients, unless the graph itself
    /// has more. 0: 8.
    #[must_use]
    pub fn products_between_reductions(mut self, count: i64) -> Self {
        self.products_between_reductions = count;
        self
    }

    /// Gathers of parameters, and all-reduces of gradients, in one group of ranks are fused into
    /// collectives on buffers of at most this many bytes, if that makes the simulated step shorter.
    /// 0: nothing is fused.
    #[must_use]
    pub fn fuse(mut self, bytes: i64) -> Self {
        self.fuse_bytes = bytes;
        self
    }

    /// Bytes of host memory of a rank in which results of the forward pass may wait for the
    /// backward pass, under recompute "auto". 0: none.
    #[must_use]
    pub fn host_memory(mut self, bytes: i64) -> Self {
        self.host_memory_bytes = bytes;
        self
    }

    /// Which communication counts in the objective.
    #[must_use]
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = Some(overlap);
        self
    }

    /// After this time the plan gets the best placement found so far, unproven.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// The search ends at a placement that is proven to cost at most this share more than the optimum,
    /// such as 1e-4. 0: 1e-9.
    #[must_use]
    pub fn gap(mut self, share: f64) -> Self {
        self.gap = share;
        self
    }

    /// A flag that ends the call when it is raised.
    #[must_use]
    pub fn cancel(mut self, flag: &Cancel) -> Self {
        self.cancel = Some(flag.clone());
        self
    }

    /// The number of threads, at most. Plans do not depend on it, unless the time limit ends the
    /// search.
    #[must_use]
    pub fn num_threads(mut self, threads: i32) -> Self {
        self.num_threads = threads;
        self
    }

    /// Does not store the graph in the plan.
    #[must_use]
    pub fn no_graph(mut self) -> Self {
        self.flags |= sys::SHW_COMPILE_NO_GRAPH;
        self
    }

    /// Does not turn view-mm-view into einsum.
    #[must_use]
    pub fn no_einsum(mut self) -> Self {
        self.flags |= sys::SHW_COMPILE_NO_EINSUM;
        self
    }

    /// Offers strided shards, too.
    #[must_use]
    pub fn strided(mut self) -> Self {
        self.flags |= sys::SHW_COMPILE_STRIDED;
        self
    }

    /// The memory of an output may hold scratch until the output is written, so the arena is
    /// smaller. Memory that a run is given for an output must be aligned to 256 bytes.
    #[must_use]
    pub fn lend_outputs(mut self) -> Self {
        self.flags |= sys::SHW_COMPILE_LEND_OUTPUTS;
        self
    }

    /// Calls `call` with these options as a C struct. If the hook panicked, resumes its panic.
    #[track_caller]
    pub(crate) fn lend<T>(
        &self,
        mut hook: Hook<'_>,
        call: impl FnOnce(&sys::shw_compile_options) -> Result<T>,
    ) -> Result<T> {
        let mut lent = Lent::default();
        let mut raw = self.raw(&mut lent)?;
        (raw.progress, raw.progress_user) = hook.raw();
        let result = call(&raw);
        hook.finish();
        result
    }

    #[track_caller]
    fn raw(&self, lent: &mut Lent) -> Result<sys::shw_compile_options> {
        let mut raw = init(sys::shw_compile_options_init);
        raw.flags = self.flags;
        for (name, size) in &self.mesh {
            lent.mesh.push(sys::shw_mesh_axis { name: lent.strings.add(name)?, size: *size });
        }
        (raw.mesh_axes, raw.num_mesh_axes) = (lent.mesh.as_ptr(), lent.mesh.len());
        raw.hardware = lent.strings.optional(self.hardware.as_deref())?;
        raw.hardware_description = bytes(&self.hardware_description);
        (raw.entries, raw.num_entries) = names(&self.entries, &mut lent.strings, &mut lent.entries)?;
        for (entry, symbol, sizes) in &self.buckets {
            lent.buckets.push(sys::shw_bucket_sizes {
                entry: lent.strings.optional(entry.as_deref())?,
                symbol: lent.strings.add(symbol)?,
                sizes: sizes.as_ptr(),
                num_sizes: sizes.len(),
            });
        }
        (raw.buckets, raw.num_buckets) = (lent.buckets.as_ptr(), lent.buckets.len());
        self.constrain(lent, &mut raw)?;
        raw.time_limit_s = self.time_limit.map_or(0.0, |limit| limit.as_secs_f64());
        raw.gap = self.gap;
        raw.cancel = self.cancel.as_ref().map_or(null(), Cancel::as_ptr);
        raw.num_threads = self.num_threads;
        Ok(raw)
    }

    #[track_caller]
    fn constrain(&self, lent: &mut Lent, raw: &mut sys::shw_compile_options) -> Result<()> {
        raw.input_layout = lent.strings.optional(self.input_layout.as_deref())?;
        raw.output_layout = lent.strings.optional(self.output_layout.as_deref())?;
        (raw.input_layouts, raw.num_input_layouts) =
            port_layouts(&self.input_layouts, &mut lent.strings, &mut lent.input_layouts)?;
        (raw.output_layouts, raw.num_output_layouts) =
            port_layouts(&self.output_layouts, &mut lent.strings, &mut lent.output_layouts)?;
        (raw.pins, raw.num_pins) = pins(&self.pins, &mut lent.strings, &mut lent.pins)?;
        (raw.without, raw.num_without) = names(&self.without, &mut lent.strings, &mut lent.without)?;
        raw.rules = self.rules.map_or(0, Rules::raw);
        raw.grad_reduce_dtype = self.grad_reduce_dtype.map_or(0, Dtype::raw);
        raw.memory_limit_bytes = self.memory_limit_bytes;
        raw.optimizer_factor = self.optimizer_factor;
        raw.recompute = lent.strings.optional(self.recompute.as_deref())?;
        (raw.prefetch_bytes, raw.prefetch_depth) = (self.prefetch_bytes, self.prefetch_depth);
        raw.products_between_reductions = self.products_between_reductions;
        raw.fuse_bytes = self.fuse_bytes;
        raw.host_memory_bytes = self.host_memory_bytes;
        (raw.param_budget, raw.param_budget_factor) = self.param_budget.map_or((0, 0.0), Budget::raw);
        match self.overlap {
            None => {}
            Some(Overlap::None) => raw.overlap = sys::SHW_OVERLAP_NONE,
            Some(Overlap::Prefetch(scale)) => {
                (raw.overlap, raw.prefetch_scale) = (sys::SHW_OVERLAP_PREFETCH, scale);
            }
            Some(Overlap::Bounded(share)) => {
                (raw.overlap, raw.bounded_share) = (sys::SHW_OVERLAP_BOUNDED, share)
            }
            Some(Overlap::Simulated) => raw.overlap = sys::SHW_OVERLAP_SIMULATED,
        }
        Ok(())
    }
}

/// The arrays and strings that the C struct of options points to.
#[derive(Default)]
pub(crate) struct Lent {
    pub(crate) strings: Strings,
    mesh: Vec<sys::shw_mesh_axis>,
    entries: Vec<*const c_char>,
    buckets: Vec<sys::shw_bucket_sizes>,
    pub(crate) input_layouts: Vec<sys::shw_port_layout>,
    pub(crate) output_layouts: Vec<sys::shw_port_layout>,
    pub(crate) pins: Vec<sys::shw_pin>,
    pub(crate) without: Vec<*const c_char>,
}

#[track_caller]
pub(crate) fn names<S: AsRef<str>>(
    names: &[S],
    strings: &mut Strings,
    lent: &mut Vec<*const c_char>,
) -> Result<(*const *const c_char, usize)> {
    for name in names {
        lent.push(strings.add(name.as_ref())?);
    }
    Ok((lent.as_ptr(), lent.len()))
}

#[track_caller]
pub(crate) fn port_layouts(
    layouts: &[(String, String)],
    strings: &mut Strings,
    lent: &mut Vec<sys::shw_port_layout>,
) -> Result<(*const sys::shw_port_layout, usize)> {
    for (port, layout) in layouts {
        lent.push(sys::shw_port_layout { port: strings.add(port)?, layout: strings.add(layout)? });
    }
    Ok((lent.as_ptr(), lent.len()))
}

#[track_caller]
pub(crate) fn pins(
    pins: &[(String, String)],
    strings: &mut Strings,
    lent: &mut Vec<sys::shw_pin>,
) -> Result<(*const sys::shw_pin, usize)> {
    for (pattern, layout) in pins {
        lent.push(sys::shw_pin { pattern: strings.add(pattern)?, layout: strings.add(layout)? });
    }
    Ok((lent.as_ptr(), lent.len()))
}
