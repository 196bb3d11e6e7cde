//! Plans: making them, reading them, and cutting their tensors into pieces.

use std::ptr::null;

use shardwise_sys as sys;

use crate::convert::{bytes, c_string, int32, slice, text};
use crate::handle::{filled, number};
use crate::plan_rows::*;
use crate::progress::Hook;
use crate::{Blob, Buffer, CompileOptions, Context, Device, Flow, Progress, Result, TensorView};

handle! {
    /// A compiled program: immutable, and shared freely between threads.
    Plan, shw_plan, shw_plan_destroy, { Send, Sync }
}

impl Plan {
    /// Chooses the cheapest placement of every tensor on the mesh, and lowers the graph to the program
    /// that one rank runs.
    pub fn compile(context: &Context, graph: &[u8], options: &CompileOptions) -> Result<Self> {
        Self::compile_hooked(context, graph, options, Hook::none())
    }

    /// As [`Plan::compile`]. Reports progress to a closure, on this thread. If the closure panics,
    /// the call ends and resumes the panic.
    ///
    /// ```
    /// # use shardwise::{Code, CompileOptions, Context, Dtype, Flow, Graph, Plan};
    /// # fn main() -> shardwise::Result<()> {
    /// # let context = Context::new()?;
    /// # let graph = Graph::new(&context)?;
    /// # graph.result("y", graph.input("x", Dtype::F32, &[4, 2])?.relu()?)?;
    /// let mut told = 0;
    /// Plan::compile_with_progress(&context, &graph.finish()?, &CompileOptions::new(), |progress| {
    ///     println!("{}: {} µs so far", progress.phase, progress.best_us);
    ///     told += 1;
    ///     Flow::Continue
    /// })?;
    /// assert!(told > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn compile_with_progress(
        context: &Context,
        graph: &[u8],
        options: &CompileOptions,
        mut progress: impl FnMut(&Progress<'_>) -> Flow,
    ) -> Result<Self> {
        Self::compile_hooked(context, graph, options, Hook::new(&mut progress))
    }

    fn compile_hooked(
        context: &Context,
        graph: &[u8],
        options: &CompileOptions,
        hook: Hook<'_>,
    ) -> Result<Self> {
        options.lend(hook, |raw| {
            // SAFETY: the bytes and all that the options point to live for the call.
            Self::create(&context.keep, |out| unsafe {
                sys::shw_plan_compile(context.as_ptr(), bytes(graph), raw, out)
            })
        })
    }

    /// Finds the cheapest way from one layout of a tensor to another, without a graph. The plan has
    /// one input, "input.0", and one output, "output". Of the options, only mesh and hardware are
    /// used.
    ///
    /// ```
    /// # use shardwise::{CompileOptions, Context, Plan};
    /// # fn main() -> shardwise::Result<()> {
    /// let options = CompileOptions::new().mesh(&[("x", 8), ("y", 8)]).hardware("h100");
    /// let plan = Plan::reshard(&Context::new()?, "f32[8192,8192]", "S(0)S(1)", "S(1)S(0)", &options)?;
    /// assert_eq!(plan.collectives()?[0].kind, "collective_permute");
    /// println!("{}", plan.to_steps_text()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reshard(
        context: &Context,
        tensor: &str,
        from: &str,
        to: &str,
        options: &CompileOptions,
    ) -> Result<Self> {
        let mut strings = crate::convert::Strings::default();
        let (tensor, from, to) = (strings.add(tensor)?, strings.add(from)?, strings.add(to)?);
        options.lend(Hook::none(), |raw| {
            // SAFETY: the strings and all that the options point to live for the call.
            Self::create(&context.keep, |out| unsafe {
                sys::shw_plan_compile_reshard(context.as_ptr(), tensor, from, to, raw, out)
            })
        })
    }

    /// Reads a plan that [`Plan::save`] made.
    pub fn load(context: &Context, plan: &[u8]) -> Result<Self> {
        // SAFETY: the bytes live for the call.
        Self::create(&context.keep, |out| unsafe { sys::shw_plan_load(context.as_ptr(), bytes(plan), out) })
    }

    /// The plan as bytes. Equal graphs, options and library versions give equal bytes.
    pub fn save(&self) -> Result<Blob> {
        // SAFETY: the plan is valid.
        Blob::create(&self.keep, |out| unsafe { sys::shw_plan_save(self.as_ptr(), out) })
    }

    /// Costs, proof, size and memory.
    pub fn summary(&self) -> Result<PlanSummary<'_>> {
        // SAFETY: what the plan lends lives as long as the plan.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_summary(self.as_ptr(), out);
            Ok(PlanSummary::from_raw(filled(sys::shw_plan_summary_init, get)?))
        }
    }

    /// The size of the placement problem, and the work of solving it. Zeros for a plan that was
    /// loaded.
    pub fn effort(&self) -> Result<PlanEffort> {
        // SAFETY: the plan is valid.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_effort(self.as_ptr(), out);
            Ok(PlanEffort::from_raw(filled(sys::shw_plan_effort_init, get)?))
        }
    }

    /// Number of ranks that the plan runs on.
    pub fn num_ranks(&self) -> usize {
        // SAFETY: the plan is valid.
        unsafe { sys::shw_plan_num_ranks(self.as_ptr()) as usize }
    }

    /// The mesh, outermost axis first.
    pub fn mesh(&self) -> Result<Vec<MeshAxis<'_>>> {
        // SAFETY: what the plan lends lives as long as the plan.
        unsafe {
            (0..sys::shw_plan_num_mesh_axes(self.as_ptr()))
                .map(|index| {
                    let mut axis = sys::shw_mesh_axis { name: null(), size: 0 };
                    crate::error::check(sys::shw_plan_get_mesh_axis(self.as_ptr(), index, &mut axis))?;
                    Ok(MeshAxis { name: text(axis.name), size: axis.size })
                })
                .collect()
        }
    }

    rows! {
        /// All ports.
        ports: PlanPort<'_> = shw_plan_num_ports, shw_plan_get_port, shw_plan_port_init;
        /// All entries.
        entries: PlanEntry<'_> = shw_plan_num_entries, shw_plan_get_entry, shw_plan_entry_init;
        /// The symbols of the graph.
        symbols: PlanSymbol<'_> = shw_plan_num_symbols, shw_plan_get_symbol, shw_symbol_init;
        /// The placement of every node, in the order of the rewritten graph.
        nodes: PlanNode<'_> = shw_plan_num_nodes, shw_plan_get_node, shw_plan_node_init;
        /// The program of a rank.
        steps: PlanStep<'_> = shw_plan_num_steps, shw_plan_get_step, shw_plan_step_init;
        /// Collectives by kind.
        collectives: PlanCollective<'_> =
            shw_plan_num_collectives, shw_plan_get_collective, shw_plan_collective_init;
        /// What the memory peak consists of, the largest share first.
        memory_shares: PlanMemoryShare<'_> =
            shw_plan_num_memory_shares, shw_plan_get_memory_share, shw_plan_memory_share_init;
        /// The durations of the parts of the compilation. Empty for a plan that was loaded.
        phases: PlanPhase<'_> = shw_plan_num_phases, shw_plan_get_phase, shw_plan_phase_init;
    }

    /// One port.
    pub fn port(&self, index: usize) -> Result<PlanPort<'_>> {
        // SAFETY: what the plan lends lives as long as the plan.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_port(self.as_ptr(), index, out);
            Ok(PlanPort::from_raw(filled(sys::shw_plan_port_init, get)?))
        }
    }

    /// One entry.
    pub fn entry(&self, index: usize) -> Result<PlanEntry<'_>> {
        // SAFETY: what the plan lends lives as long as the plan.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_entry(self.as_ptr(), index, out);
            Ok(PlanEntry::from_raw(filled(sys::shw_plan_entry_init, get)?))
        }
    }

    /// For an entry that is a bucket: its size for each symbol of the plan, in their order; none
    /// for a symbol that the entry does not depend on. Empty for other entries.
    pub fn symbol_sizes(&self, entry: usize) -> Result<Vec<Option<i64>>> {
        // SAFETY: the array has a size for each symbol, and the plan lends it.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_entry(self.as_ptr(), entry, out);
            let raw = filled(sys::shw_plan_entry_init, get)?;
            let sizes = slice(raw.symbol_sizes, sys::shw_plan_num_symbols(self.as_ptr()));
            Ok(sizes.iter().map(|&size| (size >= 0).then_some(size)).collect())
        }
    }

    /// Finds the number of a port by its name, among the ports of this entry or of all entries.
    pub fn find_port(&self, entry: Option<usize>, name: &str) -> Result<usize> {
        let (entry, name) = (entry.unwrap_or(sys::SHW_NONE), c_string(name)?);
        // SAFETY: the string lives for the call.
        number(|out| unsafe { sys::shw_plan_find_port(self.as_ptr(), entry, name.as_ptr(), out) })
    }

    /// The position of an input of an entry: in [`PlanEntry::inputs`] and
    /// [`Run::inputs`](crate::Run::inputs).
    pub fn find_input(&self, entry: usize, name: &str) -> Result<usize> {
        let name = c_string(name)?;
        // SAFETY: the string lives for the call.
        number(|out| unsafe { sys::shw_plan_find_input(self.as_ptr(), entry, name.as_ptr(), out) })
    }

    /// The position of an output of an entry: in [`PlanEntry::outputs`] and
    /// [`Run::outputs`](crate::Run::outputs).
    pub fn find_output(&self, entry: usize, name: &str) -> Result<usize> {
        let name = c_string(name)?;
        // SAFETY: the string lives for the call.
        number(|out| unsafe { sys::shw_plan_find_output(self.as_ptr(), entry, name.as_ptr(), out) })
    }

    /// The simulated time of an entry. Each call computes it again.
    pub fn entry_time(&self, index: usize) -> Result<PlanEntryTime> {
        // SAFETY: the struct is valid for the call, and lends nothing.
        unsafe {
            let get = |out: *mut _| sys::shw_plan_get_entry_time(self.as_ptr(), index, out);
            Ok(PlanEntryTime::from_raw(filled(sys::shw_plan_entry_time_init, get)?))
        }
    }

    /// Finds the number of an entry by its name.
    pub fn find_entry(&self, name: &str) -> Result<usize> {
        let name = c_string(name)?;
        // SAFETY: the string lives for the call.
        number(|out| unsafe { sys::shw_plan_find_entry(self.as_ptr(), name.as_ptr(), out) })
    }

    /// The smallest bucket of an entry of the graph into which a run of these sizes fits. Returns
    /// its number among the entries. `sizes` has one size for each symbol that the entry depends
    /// on.
    pub fn choose_bucket(&self, entry: &str, sizes: &[(&str, i64)]) -> Result<usize> {
        let mut strings = crate::convert::Strings::default();
        let entry = strings.add(entry)?;
        let mut lent = Vec::with_capacity(sizes.len());
        for &(symbol, size) in sizes {
            lent.push(sys::shw_symbol_size { symbol: strings.add(symbol)?, size });
        }
        // SAFETY: the strings and the array live for the call.
        number(|out| unsafe {
            sys::shw_plan_choose_bucket(self.as_ptr(), entry, lent.as_ptr(), lent.len(), out)
        })
    }

    texts! {
        /// Everything that the plan reports, as one JSON object.
        to_json = shw_plan_to_json;
        /// Costs, layouts and memory as text for a person.
        to_text = shw_plan_to_text;
        /// The modules that the graph was traced from as a tree, in JSON.
        to_module_tree = shw_plan_to_module_tree;
        /// The same tree for a person.
        to_module_tree_text = shw_plan_to_module_tree_text;
        /// The program of a rank for a person.
        to_program_text = shw_plan_to_program_text;
        /// The steps of a rank's program, with wire bytes and modelled times, in JSON.
        to_steps = shw_plan_to_steps;
        /// The same steps for a person.
        to_steps_text = shw_plan_to_steps_text;
        /// The placement of every node, as JSON that [`Changes::placements`](crate::Changes::placements) takes.
        to_placements = shw_plan_to_placements;
    }

    /// When each step would run on a rank, as Chrome trace events in JSON; of one entry or of all.
    pub fn to_trace(&self, entry: Option<&str>) -> Result<String> {
        let mut strings = crate::convert::Strings::default();
        let entry = strings.optional(entry)?;
        // SAFETY: the string lives for the call.
        let blob =
            Blob::create(&self.keep, |out| unsafe { sys::shw_plan_to_trace(self.as_ptr(), entry, out) })?;
        Ok(blob.to_text())
    }

    /// A report: HTML that needs no other file. `other` and `pareto` are shown beside the plan.
    /// [`Planner::to_report`](crate::Planner::to_report) adds why its layouts were chosen.
    pub fn to_report(&self, other: Option<&Plan>, pareto: Option<&crate::Pareto>) -> Result<String> {
        let other = other.map_or(null(), |plan| -> *const sys::shw_plan { plan.as_ptr() });
        let pareto = pareto.map_or(null(), |pareto| -> *const sys::shw_pareto { pareto.as_ptr() });
        // SAFETY: the handles live for the call.
        let blob = Blob::create(&self.keep, |out| unsafe {
            sys::shw_plan_to_report(self.as_ptr(), other, pareto, out)
        })?;
        Ok(blob.to_text())
    }

    /// Cuts one rank's piece of a port out of the whole tensor, into new memory.
    pub fn shard(
        &self,
        port: usize,
        rank: usize,
        whole: TensorView<'_>,
        device: Option<&Device>,
    ) -> Result<Buffer> {
        let (rank, tensor) = (int32("rank", rank)?, whole.raw());
        let keep = device.map_or_else(|| self.keep.clone(), |device| self.keep.and(device.keep()));
        let device = device.map_or(std::ptr::null_mut(), Device::as_ptr);
        // SAFETY: the tensor lives for the call.
        let raw = crate::handle::make(|out| unsafe {
            sys::shw_plan_shard(self.as_ptr(), port, rank, &tensor, device, out)
        })?;
        Ok(Buffer::own(raw, &keep))
    }

    /// As [`Plan::shard`], into an existing buffer. Fails while a run uses the buffer.
    pub fn shard_into(&self, port: usize, rank: usize, whole: TensorView<'_>, buffer: &Buffer) -> Result<()> {
        let (rank, tensor) = (int32("rank", rank)?, whole.raw());
        buffer.while_idle(|raw| {
            // SAFETY: the tensor lives for the call, and nobody uses the buffer meanwhile.
            unsafe { sys::shw_plan_shard_into(self.as_ptr(), port, rank, &tensor, raw) }
        })
    }

    /// Puts the whole tensor of a port together, from the pieces of all ranks in their order.
    pub fn gather(&self, port: usize, pieces: &[&Buffer]) -> Result<Buffer> {
        let raw: Vec<*mut sys::shw_buffer> = pieces.iter().map(|piece| piece.as_ptr()).collect();
        Buffer::all_read(pieces, || {
            // SAFETY: the array lives for the call, and no host writes the pieces meanwhile.
            let whole = crate::handle::make(|out| unsafe {
                sys::shw_plan_gather(self.as_ptr(), port, raw.as_ptr(), raw.len(), out)
            })?;
            Ok(Buffer::own(whole, &self.keep))
        })
    }

    /// Compares this plan with another one, `after`, node by node. Nodes are matched by name.
    pub fn compare(&self, after: &Plan) -> Result<crate::Comparison> {
        // SAFETY: both plans are valid.
        crate::Comparison::create(&self.keep, |out| unsafe {
            sys::shw_plan_compare(self.as_ptr(), after.as_ptr(), out)
        })
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({} ranks)", self.num_ranks())
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text().map_err(|_| std::fmt::Error)?)
    }
}
