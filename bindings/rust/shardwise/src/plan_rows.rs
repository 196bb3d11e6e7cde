//! What a plan reports: the records that its queries fill.

use crate::convert::slice;
use crate::{Dtype, Phase, Role, Storage};

record! {
    /// Costs, proof, size and memory of a plan. Costs are modelled microseconds.
    PlanSummary<'a>, shw_plan_summary(raw) {
        /// Modelled cost of a step: the sum of the next three.
        objective_us: f64,
        /// Cost of kernels.
        compute_us: f64,
        /// Cost of redistributing operands.
        communication_us: f64,
        /// 1 for each operand whose layout changes. It breaks ties.
        transition_us: f64,
        /// Proven lower bound of all placements.
        bound_us: f64,
        /// The objective equals the bound.
        proven: bool,
        /// Number of ranks that the plan runs on.
        num_ranks: i32,
        /// Number of nodes that were placed.
        num_nodes: usize,
        /// Number of strategies, summed over the nodes.
        num_strategies: usize,
        /// Number of steps of the program, collectives included.
        num_steps: usize,
        /// Name of the machine: "h100".
        hardware: &'a str,
        /// Rules of the options: "full", "compat".
        rules: &'a str,
        /// Overlap of the options: "bounded", "prefetch 0.25"; "": none.
        overlap: &'a str,
        /// Hash of the graph.
        graph_hash: u64,
        /// Hash of the options.
        options_hash: u64,
        /// Hash of the mesh.
        mesh_hash: u64,
        /// Scratch memory of one rank.
        arena_bytes: i64,
        /// Memory of one session of one rank.
        session_bytes: i64,
        /// Host memory of one rank and one session in which results wait for the backward pass.
        host_bytes: i64,
        /// Lower bound of `arena_bytes`.
        live_peak_bytes: i64,
        /// Memory limit of the options; 0: none.
        memory_limit_bytes: i64,
        /// Memory of one rank at the point of a step where most is in use, as the planner counts
        /// it.
        memory_peak_bytes: i64,
        /// Memory that one rank needs to run the program.
        memory_program_bytes: i64,
        /// Name of the node at which the peak is reached.
        memory_peak_node: &'a str,
        /// Time saved if the limit were one GiB higher, at the margin.
        memory_price_us_per_gib: f64,
        /// Number of nodes at which the limit has a price.
        memory_binding_points: usize,
        /// Number of groups of steps that run together, slice by slice.
        num_fused_groups: usize,
        /// Number of steps in all these groups.
        num_fused_steps: usize,
        /// Memory that the steps of these groups need in addition if they run one by one.
        group_bytes: i64,
    }
}

/// One axis of a mesh.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeshAxis<'a> {
    /// Name of the axis: "dp".
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
        /// Type of its elements.
        dtype: Dtype,
        /// False: an output that is never computed.
        present: bool,
        /// The input whose memory this output overwrites.
        updates: Option<usize>,
        /// Sizes of the whole tensor.
        dims: &'a [i64] = slice(raw.dims, raw.rank as usize),
        /// Sizes of one rank's piece; empty if not present.
        local_dims: &'a [i64] = slice(raw.local_dims, raw.rank as usize),
        /// Strides of one rank's piece, in elements; empty if not present.
        local_strides: &'a [i64] = slice(raw.local_strides, raw.rank as usize),
        /// One placement for each mesh axis: "S(0)R".
        layout: &'a str,
        /// For a bucket: the expressions of symbols that `dims` are computed from.
        symbolic_dims: Option<&'a str>,
    }
}

record! {
    /// One way to run a plan.
    PlanEntry<'a>, shw_plan_entry(raw) {
        /// Name: "step". If an entry has several buckets, their sizes are part of it:
        /// "decode@cache=16".
        name: &'a str,
        /// Weight of the entry in the objective.
        weight: f64,
        /// Ports that a run takes, in this order.
        inputs: &'a [usize] = slice(raw.inputs, raw.num_inputs),
        /// Ports that a run returns, in this order.
        outputs: &'a [usize] = slice(raw.outputs, raw.num_outputs),
        /// Entries that must have run before it in the same session.
        after: &'a [usize] = slice(raw.after, raw.num_after),
        /// Number of steps of its program.
        num_steps: usize,
        /// Bytes of parameters of one rank; a part of `input_bytes`.
        parameter_bytes: i64,
        /// Bytes of inputs of one rank.
        input_bytes: i64,
        /// Bytes of outputs of one rank. Outputs that overwrite inputs do not count.
        output_bytes: i64,
        /// The entry of the graph of which this is a bucket; "": none.
        bucket_of: &'a str,
    }
}

record! {
    /// How long one run of an entry takes and what it needs, by the cost model: its steps are simulated
    /// on the queues of a rank, with communication beside computation.
    PlanEntryTime, shw_plan_entry_time(raw) {
        /// From the first step to the end of the last.
        us: f64,
        /// The part of `us` in which communication runs with no computation beside it.
        exposed_us: f64,
        /// The part of `exposed_us` that no order of the steps hides.
        unavoidable_us: f64,
        /// Lower bound of `us`: no order of the steps is faster.
        lower_bound_us: f64,
        /// Time of the longest chain of steps that wait for each other.
        longest_chain_us: f64,
        /// Device memory of one rank: ports, state, session, scratch.
        device_peak_bytes: i64,
    }
}

record! {
    /// A symbol of the graph: a size that is known only at run time.
    PlanSymbol<'a>, shw_symbol(raw) {
        /// Name of the symbol: "cache".
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
        /// Name of the node in the rewritten graph.
        name: &'a str,
        /// Its operation.
        op: &'a str,
        /// Module that the node is part of: "layers.0.attention.wq"; "": none.
        module_path: &'a str,
        /// Forward or backward.
        phase: Phase,
        /// Layouts of the operands: "S(0)R, RS(1)".
        operand_layouts: &'a str,
        /// Layout of the result: "S(0)S(2)"; several results in parentheses.
        result_layout: &'a str,
        /// Cost of its kernel.
        compute_us: f64,
        /// Cost of communication for the layout changes of its operands.
        communication_us: f64,
        /// Transition cost of these layout changes.
        transition_us: f64,
    }
}

record! {
    /// One step of the program: a kernel, or a collective.
    PlanStep<'a>, shw_plan_step(raw) {
        /// Name of the kernel: "mm", "local_slice", "all_gather".
        kernel: &'a str,
        /// Number of the entry that the step is part of.
        entry: usize,
        /// Forward or backward.
        phase: Phase,
        /// Stream that the step runs on. Stream 0 computes; each other stream has the collectives
        /// of one communicator.
        stream: i32,
        /// The node of the graph for which the step runs.
        node_index: Option<usize>,
        /// For a collective: mesh axes of the group.
        axes: &'a [u8] = slice(raw.axes, raw.num_axes),
        /// For a permute: the axes in another order. The member with number i in this order gets what
        /// the member with number i in the order of `axes` has.
        to_axes: &'a [u8] = slice(raw.to_axes, if raw.to_axes.is_null() { 0 } else { raw.num_axes }),
        /// For a reduction: "sum", "avg", …
        reduce: &'a str,
        /// Bytes that one rank sends.
        wire_bytes: i64,
        /// Modelled time.
        cost_us: f64,
    }
}

record! {
    /// All steps of one kind of collective.
    PlanCollective<'a>, shw_plan_collective(raw) {
        /// The kind: "all_gather", "reduce_scatter", "all_reduce", "all_to_all",
        /// "collective_permute".
        kind: &'a str,
        /// Number of steps of the program.
        count: usize,
        /// Bytes that one rank sends.
        wire_bytes: i64,
    }
}

record! {
    /// Memory of one kind that one module holds at the point of a step where most is in use.
    PlanMemoryShare<'a>, shw_plan_memory_share(raw) {
        /// Kind of memory: "parameters", "gradients", "activations", …
        kind: &'a str,
        /// The module: "layers.0.attention.wq"; "": none.
        module_path: &'a str,
        /// Bytes of one rank.
        bytes: i64,
    }
}

record! {
    /// The time that one part of a compilation took.
    PlanPhase<'a>, shw_plan_phase(raw) {
        /// Name of the part: "load", "rewrite", "solve", …
        name: &'a str,
        /// Its duration in seconds.
        duration_s: f64,
    }
}

record! {
    /// The work that the solver did.
    PlanEffort, shw_plan_effort(raw) {
        /// Number of variables of the placement problem.
        num_variables: usize,
        /// Number of edges of the placement problem.
        num_edges: usize,
        /// Number of strategies, summed over the variables.
        num_strategies: usize,
        /// Number of sweeps of the solver.
        num_sweeps: usize,
        /// Number of branch-and-bound nodes of the solver.
        num_branch_nodes: usize,
    }
}
