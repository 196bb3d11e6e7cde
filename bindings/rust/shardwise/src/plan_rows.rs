//! What a plan says: the records that its queries fill.

use crate::convert::slice;
use crate::{Dtype, Phase, Role, Storage};

record! {
    /// Costs, proof, size and memory of a plan. Costs are modelled microseconds.
    PlanSummary<'a>, shw_plan_summary(raw) {
        /// Modelled cost of a step: the sum of the next three.
        objective_us: f64,
        /// Of kernels.
        compute_us: f64,
        /// Of redistributing operands.
        communication_us: f64,
        /// 1 for each operand whose layout changes: breaks ties.
        transition_us: f64,
        /// Proven lower bound of all placements.
        bound_us: f64,
        /// The objective equals the bound.
        proven: bool,
        /// That the plan runs on.
        num_ranks: i32,
        /// That were placed.
        num_nodes: usize,
        /// Summed over the nodes.
        num_strategies: usize,
        /// Of the program, collectives included.
        num_steps: usize,
        /// "h100"
        hardware: &'a str,
        /// "full", "compat"
        rules: &'a str,
        /// "bounded", "prefetch 0.25"; "": none
        overlap: &'a str,
        /// Of the graph.
        graph_hash: u64,
        /// Of the options.
        options_hash: u64,
        /// Of the mesh.
        mesh_hash: u64,
        /// Scratch memory of one rank.
        arena_bytes: i64,
        /// Of one session of one rank.
        session_bytes: i64,
        /// Host memory of one rank and one session, where results wait.
        host_bytes: i64,
        /// Lower bound of `arena_bytes`.
        live_peak_bytes: i64,
        /// Of the options; 0: none.
        memory_limit_bytes: i64,
        /// Of one rank at the fullest point of a step, as the planner counts it.
        memory_peak_bytes: i64,
        /// That one rank needs to run the program.
        memory_program_bytes: i64,
        /// Where the peak is.
        memory_peak_node: &'a str,
        /// Saved if the limit were one GiB higher, at the margin.
        memory_price_us_per_gib: f64,
        /// Nodes at which the limit has a price.
        memory_binding_points: usize,
        /// Of steps that run together, slice by slice.
        num_fused_groups: usize,
        /// In all groups.
        num_fused_steps: usize,
        /// What the groups' steps need in addition where they run one by one.
        group_bytes: i64,
    }
}

/// One axis of a mesh.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeshAxis<'a> {
    /// "dp"
    pub name: &'a str,
    /// Number of ranks along it.
    pub size: i64,
}

record! {
    /// A tensor in memory of its own: an input, an output, state, or a constant.
    PlanPort<'a>, shw_plan_port(raw) {
        /// "param.NAME", "input.NAME", "output.NAME", "grad.NAME", "update.NAME", …
        name: &'a str,
        /// What it is for.
        role: Role,
        /// Who holds its memory.
        storage: Storage,
        /// Of its elements.
        dtype: Dtype,
        /// False: an output that is never computed.
        present: bool,
        /// The input whose memory this output overwrites.
        updates: Option<usize>,
        /// Of the whole tensor.
        dims: &'a [i64] = slice(raw.dims, raw.rank as usize),
        /// Of one rank's piece; empty if not present.
        local_dims: &'a [i64] = slice(raw.local_dims, raw.rank as usize),
        /// Of one rank's piece, in elements; empty if not present.
        local_strides: &'a [i64] = slice(raw.local_strides, raw.rank as usize),
        /// One placement for each mesh axis: "S(0)R".
        layout: &'a str,
        /// Of a bucket: what `dims` are made of.
        symbolic_dims: Option<&'a str>,
    }
}

record! {
    /// One way to run a plan.
    PlanEntry<'a>, shw_plan_entry(raw) {
        /// "step"; where an entry has several buckets, with their sizes: "decode@cache=16".
        name: &'a str,
        /// In the objective.
        weight: f64,
        /// Ports that a run takes, in this order.
        inputs: &'a [usize] = slice(raw.inputs, raw.num_inputs),
        /// Ports that a run gives, in this order.
        outputs: &'a [usize] = slice(raw.outputs, raw.num_outputs),
        /// Entries that must have run before it in the same session.
        after: &'a [usize] = slice(raw.after, raw.num_after),
        /// Of its program.
        num_steps: usize,
        /// Of one rank; a part of `input_bytes`.
        parameter_bytes: i64,
        /// Of one rank.
        input_bytes: i64,
        /// Of one rank; outputs that overwrite inputs do not count.
        output_bytes: i64,
        /// The entry of the graph that this is a bucket of; "": none.
        bucket_of: &'a str,
    }
}

record! {
    /// How long one run of an entry takes and what it needs, by the cost model: its steps are simulated
    /// on the queues of a rank, with communication beside computation.
    PlanEntryTime, shw_plan_entry_time(raw) {
        /// From the first step to the end of the last.
        us: f64,
        /// Of that: communication with no computation beside it.
        exposed_us: f64,
        /// Of `exposed_us`: what no order of the steps hides.
        unavoidable_us: f64,
        /// No order of the steps is faster.
        lower_bound_us: f64,
        /// Of steps that wait for each other.
        longest_chain_us: f64,
        /// Of one rank: ports, state, session, scratch.
        device_peak_bytes: i64,
    }
}

record! {
    /// A size that is known at run time.
    PlanSymbol<'a>, shw_symbol(raw) {
        /// "cache"
        name: &'a str,
        /// Smallest size.
        minimum: i64,
        /// Largest size.
        maximum: i64,
        /// Every size is a multiple of it.
        divisor: i64,
        /// A typical size.
        hint: i64,
    }
}

record! {
    /// The placement of one node.
    PlanNode<'a>, shw_plan_node(raw) {
        /// In the rewritten graph.
        name: &'a str,
        /// Its operation.
        op: &'a str,
        /// "layers.0.attention.wq"; "": none
        module_path: &'a str,
        /// Forward or backward.
        phase: Phase,
        /// "S(0)R, RS(1)"
        operand_layouts: &'a str,
        /// "S(0)S(2)"; of several results in parentheses.
        result_layout: &'a str,
        /// Of its kernel.
        compute_us: f64,
        /// Of the layout changes of its operands.
        communication_us: f64,
        /// Likewise.
        transition_us: f64,
    }
}

record! {
    /// One step of the program: a kernel, or a collective.
    PlanStep<'a>, shw_plan_step(raw) {
        /// "mm", "local_slice", "all_gather"
        kernel: &'a str,
        /// Which entry.
        entry: usize,
        /// Forward or backward.
        phase: Phase,
        /// 0: computes; each other stream: the collectives of one communicator.
        stream: i32,
        /// Node of the graph that it serves.
        node_index: Option<usize>,
        /// Of a collective: mesh axes of the group.
        axes: &'a [u8] = slice(raw.axes, raw.num_axes),
        /// Of a permute: the axes in another order. The member that has number i in this order gets what
        /// the member with number i in the order of `axes` has.
        to_axes: &'a [u8] = slice(raw.to_axes, if raw.to_axes.is_null() { 0 } else { raw.num_axes }),
        /// Of a reduction: "sum", "avg", …
        reduce: &'a str,
        /// That one rank sends.
        wire_bytes: i64,
        /// Modelled.
        cost_us: f64,
    }
}

record! {
    /// All steps of one kind of collective.
    PlanCollective<'a>, shw_plan_collective(raw) {
        /// "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "collective_permute"
        kind: &'a str,
        /// Steps of the program.
        count: usize,
        /// That one rank sends.
        wire_bytes: i64,
    }
}

record! {
    /// What one module holds of one kind of memory at the fullest point of a step.
    PlanMemoryShare<'a>, shw_plan_memory_share(raw) {
        /// "parameters", "gradients", "activations", …
        kind: &'a str,
        /// "layers.0.attention.wq"; "": none
        module_path: &'a str,
        /// Of one rank.
        bytes: i64,
    }
}

record! {
    /// Wall clock of one part of a compilation.
    PlanPhase<'a>, shw_plan_phase(raw) {
        /// "load", "rewrite", "solve", …
        name: &'a str,
        /// How long it took.
        duration_s: f64,
    }
}

record! {
    /// What the solver had to do.
    PlanEffort, shw_plan_effort(raw) {
        /// Of the placement problem.
        num_variables: usize,
        /// Likewise.
        num_edges: usize,
        /// Summed over the variables.
        num_strategies: usize,
        /// Of the solver.
        num_sweeps: usize,
        /// Likewise.
        num_branch_nodes: usize,
    }
}
