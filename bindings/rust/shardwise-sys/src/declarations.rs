// Written by generate.py from capi/include/shardwise. Change those headers, and run it again.
use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

pub const SHW_VERSION_MAJOR: u32 = 0;
pub const SHW_VERSION_MINOR: u32 = 2;
pub const SHW_VERSION_PATCH: u32 = 0;
pub const SHW_FIRST_MESH_PART: u32 = 16;
pub const SHW_CONTEXT_DETERMINISTIC: u64 = 1;
pub const SHW_NODE_HAS_SEQUENCE_NR: u64 = 1;
pub const SHW_NODE_HAS_REGION: u64 = 2;
pub const SHW_COMPILE_NO_EINSUM: u64 = 1;
pub const SHW_COMPILE_NO_GRAPH: u64 = 2;
pub const SHW_COMPILE_STRIDED: u64 = 4;
pub const SHW_COMPILE_LEND_OUTPUTS: u64 = 8;
pub const SHW_EXECUTOR_GRAPHS: u64 = 1;
pub const SHW_BENCH_TEXT: u64 = 1;
pub const SHW_BENCH_TRACE: u64 = 2;
pub const SHW_BENCH_WHOLE: u64 = 4;
pub const SHW_BENCH_GRAPHS: u64 = 8;
pub const SHW_SEARCH_EACH_BATCH: u64 = 1;
pub const SHW_SOLUTION_TIED: u64 = 1;
pub const SHW_API_VERSION: u32 = (SHW_VERSION_MAJOR << 16) | SHW_VERSION_MINOR;
/// No index.
pub const SHW_NONE: usize = usize::MAX;

/// an error; NULL: none.
#[repr(C)]
pub struct shw_status {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// the host's allocator, log and threads; immutable.
#[repr(C)]
pub struct shw_context {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// a flag that any thread may raise.
#[repr(C)]
pub struct shw_cancel {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// bytes that the library owns; immutable.
#[repr(C)]
pub struct shw_blob {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// gRPC's numbers. Callers must expect codes that are not listed here.
pub type shw_code = i32;
pub const SHW_OK: shw_code = 0;
pub const SHW_CANCELLED: shw_code = 1;
pub const SHW_UNKNOWN: shw_code = 2;
pub const SHW_INVALID_ARGUMENT: shw_code = 3;
pub const SHW_DEADLINE_EXCEEDED: shw_code = 4;
pub const SHW_NOT_FOUND: shw_code = 5;
pub const SHW_ALREADY_EXISTS: shw_code = 6;
pub const SHW_PERMISSION_DENIED: shw_code = 7;
pub const SHW_RESOURCE_EXHAUSTED: shw_code = 8;
pub const SHW_FAILED_PRECONDITION: shw_code = 9;
pub const SHW_ABORTED: shw_code = 10;
pub const SHW_OUT_OF_RANGE: shw_code = 11;
pub const SHW_UNIMPLEMENTED: shw_code = 12;
pub const SHW_INTERNAL: shw_code = 13;
pub const SHW_UNAVAILABLE: shw_code = 14;
pub const SHW_DATA_LOSS: shw_code = 15;

pub type shw_dtype = i32;
pub const SHW_DTYPE_F32: shw_dtype = 1;
pub const SHW_DTYPE_F64: shw_dtype = 2;
pub const SHW_DTYPE_F16: shw_dtype = 3;
pub const SHW_DTYPE_BF16: shw_dtype = 4;
pub const SHW_DTYPE_I8: shw_dtype = 5;
pub const SHW_DTYPE_I16: shw_dtype = 6;
pub const SHW_DTYPE_I32: shw_dtype = 7;
pub const SHW_DTYPE_I64: shw_dtype = 8;
pub const SHW_DTYPE_U8: shw_dtype = 9;
pub const SHW_DTYPE_BOOL: shw_dtype = 10;
pub const SHW_DTYPE_C64: shw_dtype = 11;
pub const SHW_DTYPE_F8E4M3FN: shw_dtype = 12;
pub const SHW_DTYPE_F8E5M2: shw_dtype = 13;

/// What an input or an output of a graph is for.
pub type shw_role = i32;
pub const SHW_ROLE_PARAMETER: shw_role = 1;
pub const SHW_ROLE_BUFFER: shw_role = 2;
pub const SHW_ROLE_INPUT: shw_role = 3;
pub const SHW_ROLE_TANGENT: shw_role = 4;
pub const SHW_ROLE_SEED: shw_role = 5;
pub const SHW_ROLE_OPTIMIZER_STATE: shw_role = 6;
pub const SHW_ROLE_CONSTANT: shw_role = 7;
pub const SHW_ROLE_RESULT: shw_role = 11;
pub const SHW_ROLE_GRADIENT: shw_role = 12;
pub const SHW_ROLE_UPDATE: shw_role = 13;

/// Who holds the memory of an input between runs. 0: the caller.
pub type shw_storage = i32;
pub const SHW_STORAGE_PORT: shw_storage = 1;
pub const SHW_STORAGE_STATE: shw_storage = 2;
pub const SHW_STORAGE_CONSTANT: shw_storage = 3;

pub type shw_phase = i32;
pub const SHW_PHASE_FORWARD: shw_phase = 1;
pub const SHW_PHASE_BACKWARD: shw_phase = 2;

pub type shw_device_kind = i32;
pub const SHW_DEVICE_CPU: shw_device_kind = 1;
pub const SHW_DEVICE_CUDA: shw_device_kind = 2;
pub const SHW_DEVICE_NULL: shw_device_kind = 3;

pub type shw_log_level = i32;
pub const SHW_LOG_DEBUG: shw_log_level = 1;
pub const SHW_LOG_INFO: shw_log_level = 2;
pub const SHW_LOG_WARNING: shw_log_level = 3;
pub const SHW_LOG_ERROR: shw_log_level = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_bytes {
    pub data: *const c_void,
    pub size: usize,
}

/// A tensor in memory that the struct does not own. If a function only reads the tensor, the memory
/// may be const: cast `data`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_tensor {
    /// element 0
    pub data: *mut c_void,
    /// `rank` sizes
    pub dims: *const i64,
    /// `rank` distances in elements; NULL: row-major
    pub strides: *const i64,
    /// at most 8; 0: a scalar
    pub rank: i32,
    pub dtype: shw_dtype,
    /// 0: SHW_DEVICE_CPU
    pub device_kind: shw_device_kind,
    /// 0 on the CPU
    pub device_index: i32,
}

/// Returns `size` bytes at a multiple of `alignment` (a power of two), or NULL. Any thread.
pub type shw_alloc_fn =
    Option<unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void>;

/// Takes back what shw_alloc_fn gave, with the same size and alignment. Any thread.
pub type shw_free_fn =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize)>;

/// Calls of one context never overlap. They may come from any thread. `message` and `file` are lent
/// for the call.
pub type shw_log_fn =
    Option<unsafe extern "C" fn(*mut c_void, shw_log_level, *const c_char, *const c_char, i32)>;

/// A piece of work of the library, to be called once with the `task` that came with it. It returns
/// when the piece is done, and throws nothing.
pub type shw_task_fn =
    Option<unsafe extern "C" fn(*mut c_void)>;

/// Takes a task, which the host runs once, on any thread and in any order: within this call, or
/// later, even after the library's call that submitted the task has returned. Several threads may
/// call this function at the same time. Returns 0 if the host will run the task. If it returns any
/// other number, the host must not run the task, and the library does the work without it.
///
/// No call of the library waits for a task that has not begun: the calling thread does the work
/// instead, and the task returns at once when it is run later. So a thread pool that has one thread,
/// or is busy with other things, never blocks a call. A task that is accepted and never run leaks
/// some hundred bytes.
pub type shw_submit_fn =
    Option<unsafe extern "C" fn(*mut c_void, shw_task_fn, *mut c_void) -> i32>;

/// Options of shw_context_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_context_options {
    /// set by SHW_CONTEXT_OPTIONS_INIT or shw_context_options_init()
    pub struct_size: usize,
    /// SHW_CONTEXT_DETERMINISTIC
    pub flags: u64,
    /// for tensors, executors' memory and blobs; NULL: the C++ heap
    pub alloc: shw_alloc_fn,
    /// NULL if and only if alloc is
    pub free: shw_free_fn,
    /// must stay valid until the last object made in the context is gone
    pub alloc_user: *mut c_void,
    /// NULL: nothing is logged
    pub log: shw_log_fn,
    /// as alloc_user
    pub log_user: *mut c_void,
    /// the lowest that is passed on; 0: SHW_LOG_INFO
    pub log_level: shw_log_level,
    /// 0
    pub reserved: i32,
    /// Runs tasks on the host's threads, for the parallel parts of planning: pricing, solving large problems, searches under memory limits, verifying a plan while it is written, shw_search_create(). The num_threads of a call determines how many tasks it submits; results do not depend on them. NULL: such calls start threads and join them before they return. Running a plan never uses the host's threads, because collectives block until all ranks have come. The library starts a thread for each stream of a local rank.
    pub submit: shw_submit_fn,
    /// as alloc_user, and until the last task has been run
    pub submit_user: *mut c_void,
    /// Limit on the bytes of text that shw_graph_import() and shw_solution_create() read, counted after decompression, because a small gzipped file can expand to any size. 0: 512 MiB.
    pub max_text_bytes: u64,
    /// Path of a folder where CUDA devices keep compiled kernels for later processes; copied. The folder is created if it does not exist. Any number of processes may use it at once. Damaged and foreign files are ignored, and so are errors of writing. The library never removes a file. The GPU runs what the files contain, so nobody else should be able to write to the folder. NULL: every process compiles what it needs.
    pub kernel_cache: *const c_char,
}

/// A size of a graph that is known only at run time, such as the length of a sequence.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_symbol {
    /// set by SHW_SYMBOL_INIT
    pub struct_size: usize,
    /// "cache": a letter or _, then letters, digits or _; at most 64
    pub name: *const c_char,
    /// smallest size at run time, 0 or more
    pub minimum: i64,
    /// largest size
    pub maximum: i64,
    /// every size is a multiple of it; 0: 1
    pub divisor: i64,
    /// a typical size. The graph is planned at this size if no buckets are given. 0: `maximum`
    pub hint: i64,
}

/// a graph under construction.
#[repr(C)]
pub struct shw_builder {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type shw_attr_kind = i32;
pub const SHW_ATTR_KIND_INT: shw_attr_kind = 1;
pub const SHW_ATTR_KIND_FLOAT: shw_attr_kind = 2;
pub const SHW_ATTR_KIND_BOOL: shw_attr_kind = 3;
pub const SHW_ATTR_KIND_DTYPE: shw_attr_kind = 4;
pub const SHW_ATTR_KIND_INTS: shw_attr_kind = 5;
pub const SHW_ATTR_KIND_STRING: shw_attr_kind = 6;
pub const SHW_ATTR_KIND_EXPR: shw_attr_kind = 7;

/// What activation checkpointing asks for a node's result: to save it, or to compute it again in the
/// backward pass. 0: nothing.
pub type shw_recompute = i32;
pub const SHW_RECOMPUTE_MUST_SAVE: shw_recompute = 1;
pub const SHW_RECOMPUTE_PREFER_SAVE: shw_recompute = 2;
pub const SHW_RECOMPUTE_PREFER_RECOMPUTE: shw_recompute = 3;
pub const SHW_RECOMPUTE_MUST_RECOMPUTE: shw_recompute = 4;

/// An argument of an operation that is not a tensor. Frozen. Use the macros below.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_attr {
    pub name: *const c_char,
    /// which of the following fields holds the value
    pub kind: shw_attr_kind,
    /// 0
    pub reserved: i32,
    /// INT; BOOL: 0 or 1; DTYPE: SHW_DTYPE_\*
    pub int_value: i64,
    /// FLOAT
    pub float_value: f64,
    /// INTS: num_ints numbers
    pub ints: *const i64,
    pub num_ints: usize,
    /// STRING; EXPR: an expression or a list, "cache" or "\[1,2\*cache\]"
    pub string: *const c_char,
}

/// Properties of a node that the planner and its reports use in addition to its operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_node_options {
    /// set by SHW_NODE_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_NODE_\*
    pub flags: u64,
    /// for people and messages; NULL: "%" and the node's number
    pub name: *const c_char,
    /// 0: forward. What an optimizer computes is backward
    pub phase: shw_phase,
    pub recompute: shw_recompute,
    /// "layers.0.attention.wq"; NULL: none
    pub module_path: *const c_char,
    /// file and line, for people; NULL: not known
    pub source: *const c_char,
    /// of autograd: links a backward node to its forward node
    pub sequence_nr: i64,
    /// number of the activation checkpointing region
    pub region: i32,
    /// 0
    pub reserved: i32,
}

/// Type of one result of a node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_result_type {
    /// set by SHW_RESULT_TYPE_INIT
    pub struct_size: usize,
    /// 0: an element of a tuple that is absent
    pub present: i32,
    pub dtype: shw_dtype,
    pub rank: i32,
    /// 0
    pub reserved: i32,
    /// of the node; more than one: operation "get_item" extracts one
    pub num_results: usize,
    /// the first `rank` are set; sizes that depend on symbols are at the hints
    pub dims: [i64; 8],
}

/// An input of the graph: a tensor from outside.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_builder_input {
    /// set by SHW_BUILDER_INPUT_INIT
    pub struct_size: usize,
    /// SHW_ROLE_PARAMETER to SHW_ROLE_OPTIMIZER_STATE
    pub role: shw_role,
    /// 0: the caller hands the tensor over for every run
    pub storage: shw_storage,
    /// required for parameters, buffers, optimizer state and everything that is SHW_STORAGE_STATE; for others, NULL: the position serves as name. In the plan the name has a prefix for the role, "param.\<name\>": shw_plan_port::name
    pub name: *const c_char,
    /// SHW_ROLE_INPUT: which argument of the model; SHW_ROLE_TANGENT: the number of the output that it belongs to; others: not used
    pub position: usize,
    pub dtype: shw_dtype,
    pub rank: i32,
    /// `rank` sizes of the whole tensor; lent for the call
    pub dims: *const i64,
    /// if a size depends on symbols: all sizes as one text, "\[1,2\*cache\]", in place of `rank` and `dims`; NULL: no size does. Not for parameters, optimizer state and SHW_STORAGE_STATE, because buckets share them: give these the largest size, and take a slice
    pub symbolic_dims: *const c_char,
}

/// An output of the graph. SHW_BUILDER_OUTPUT_INIT sets `node` and `of_input` to SHW_NONE.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_builder_output {
    /// set by SHW_BUILDER_OUTPUT_INIT
    pub struct_size: usize,
    /// SHW_ROLE_RESULT to SHW_ROLE_UPDATE
    pub role: shw_role,
    /// update: 1 if it overwrites the memory of the input. Updates of SHW_STORAGE_STATE always overwrite it
    pub in_place: i32,
    /// a node with one result; SHW_NONE: a gradient that is absent
    pub node: usize,
    /// of a result; NULL: its position serves as name. NULL for gradients and updates. In the plan the name has a prefix, as for inputs: "output.\<name\>", "grad.…", "update.…"
    pub name: *const c_char,
    /// gradient, update: the node of the input; not used for results
    pub of_input: usize,
}

/// One way to run the graph: it computes some outputs from the inputs that they need.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_builder_entry {
    /// set by SHW_BUILDER_ENTRY_INIT
    pub struct_size: usize,
    /// "step", "decode"
    pub name: *const c_char,
    /// in the objective: how often it is called, compared with other entries; 0: 1
    pub weight: f64,
    /// numbers of outputs, ascending
    pub outputs: *const usize,
    pub num_outputs: usize,
    /// numbers of entries that run before it in the same session. Values that they have computed are not computed again
    pub after: *const usize,
    pub num_after: usize,
}

/// What a parameter of an operation takes. For attributes, the comment names the macros that make
/// them.
pub type shw_param_kind = i32;
pub const SHW_PARAM_TENSOR: shw_param_kind = 1;
pub const SHW_PARAM_OPTIONAL_TENSOR: shw_param_kind = 2;
pub const SHW_PARAM_TENSOR_OR_NUMBER: shw_param_kind = 3;
pub const SHW_PARAM_TENSORS: shw_param_kind = 4;
pub const SHW_PARAM_OPTIONAL_TENSORS: shw_param_kind = 5;
pub const SHW_PARAM_INT: shw_param_kind = 6;
pub const SHW_PARAM_FLOAT: shw_param_kind = 7;
pub const SHW_PARAM_NUMBER: shw_param_kind = 8;
pub const SHW_PARAM_BOOL: shw_param_kind = 9;
pub const SHW_PARAM_INTS: shw_param_kind = 10;
pub const SHW_PARAM_DTYPE: shw_param_kind = 11;
pub const SHW_PARAM_STRING: shw_param_kind = 12;

/// A parameter of an operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_op_param {
    /// set by SHW_OP_PARAM_INIT
    pub struct_size: usize,
    /// of the attribute, if it is one; lives as long as the library
    pub name: *const c_char,
    pub kind: shw_param_kind,
    /// 1: it must be given; a node without it is refused
    pub required: i32,
    /// the value of an attribute that is absent, as text: "-1", "false", "\[\]", "none"; lives as long as the library. NULL: the attribute is required, or its absence means something that no value expresses, such as no upper bound for clamp's `max`
    pub default_value: *const c_char,
}

/// the compiled program; immutable.
#[repr(C)]
pub struct shw_plan {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// One dim of the device mesh, outermost first: ranks are numbered row-major. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_mesh_axis {
    /// "dp"
    pub name: *const c_char,
    pub size: i64,
}

/// Constrains the layouts of the nodes that match.
///
/// Pattern: terms joined by &, all of which must match. NAME matches the name of a node, of an input
/// or of an output ("param.\<name\>", "input.0", "output"); \* and ? are wildcards. "module:PATH"
/// matches the nodes of a module and of the modules in it; "op:NAME" the nodes of an operation.
/// Layout, one placement for each mesh axis: "S(0)R"; "S(0)\*", any placement on the second axis;
/// "S(0)R;RR", one of these; "!P\*;\*P", none of these; "same": the same layout for all nodes that
/// match.
/// If pins cannot hold together, the call fails with SHW_FAILED_PRECONDITION, and the status lists
/// them: shw_status_conflict(). Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_pin {
    /// "param.layers.\*.w1"
    pub pattern: *const c_char,
    pub layout: *const c_char,
}

/// Fixes the layout of the inputs or outputs that match. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_port_layout {
    /// name, with \* and ? as wildcards: "input.0", "param.\*.wq.weight", "grad.\*"
    pub port: *const c_char,
    /// one placement for each mesh axis, "S(0)R"; "free": the planner chooses
    pub layout: *const c_char,
}

/// Sizes of a symbol at which an entry is planned. Each is a bucket: the entry with tensors of that
/// size. An entry that depends on several symbols has a bucket for each combination. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_bucket_sizes {
    /// "decode"; NULL: every entry that depends on the symbol
    pub entry: *const c_char,
    pub symbol: *const c_char,
    /// `num_sizes` of them, in any order
    pub sizes: *const i64,
    pub num_sizes: usize,
}

/// Which strategies the planner chooses from. 0: full.
pub type shw_rules = i32;
pub const SHW_RULES_FULL: shw_rules = 1;
pub const SHW_RULES_COMPAT: shw_rules = 2;

/// How much of the parameters a rank may hold. 0: SHW_PARAM_BUDGET_SMALLEST, so that parameters are
/// divided over all ranks wherever their dims allow it, and gathered before use.
pub type shw_param_budget = i32;
pub const SHW_PARAM_BUDGET_SMALLEST: shw_param_budget = 1;
pub const SHW_PARAM_BUDGET_NONE: shw_param_budget = 2;
pub const SHW_PARAM_BUDGET_FACTOR: shw_param_budget = 3;

/// Which communication counts in the objective. 0: SHW_OVERLAP_NONE, except for the optimum of
/// shw_planner_compare(), which is then found with SHW_OVERLAP_SIMULATED.
pub type shw_overlap = i32;
pub const SHW_OVERLAP_NONE: shw_overlap = 1;
pub const SHW_OVERLAP_PREFETCH: shw_overlap = 2;
pub const SHW_OVERLAP_BOUNDED: shw_overlap = 3;
pub const SHW_OVERLAP_SIMULATED: shw_overlap = 4;

/// Argument of shw_progress_fn.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_progress {
    /// bytes that this library filled in
    pub struct_size: usize,
    /// "load", "rewrite", "strategies", "price", "solve", "lower", ...
    pub phase: *const c_char,
    /// cost of the best placement so far; infinity: none yet
    pub best_us: f64,
    /// proven lower bound of all placements; -infinity: none yet
    pub bound_us: f64,
    pub elapsed_s: f64,
}

/// Called by the thread that compiles. Returns non-zero to cancel. Must not throw, longjmp, or call
/// the library.
pub type shw_progress_fn =
    Option<unsafe extern "C" fn(*mut c_void, *const shw_progress) -> i32>;

/// Options of shw_plan_compile(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_compile_options {
    /// set by SHW_COMPILE_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_COMPILE_\*
    pub flags: u64,
    /// at most 6
    pub mesh_axes: *const shw_mesh_axis,
    /// 0: one device
    pub num_mesh_axes: usize,
    /// a name of shw_hardware_name(): "h100"; NULL: "h100"
    pub hardware: *const c_char,
    /// JSON (HARDWARE.md), in place of `hardware`; empty: none
    pub hardware_description: shw_bytes,
    /// entries to plan in place of those of the graph. "step" computes all outputs; "forward" and "infer" the results and the updates of buffers and inputs; "backward" the gradients and the other updates. "backward" runs after "forward", if that is listed
    pub entries: *const *const c_char,
    /// 0: the entries of the graph
    pub num_entries: usize,
    /// for graphs with symbols. Buckets share parameters, state and their layouts, and divide the weight of their entry. If no sizes are given for a symbol, it has one bucket, at its hint
    pub buckets: *const shw_bucket_sizes,
    pub num_buckets: usize,
    /// of every input that is not a parameter, buffer or state, one placement for each mesh axis: "S(0)R"; NULL, "free": the planner chooses
    pub input_layout: *const c_char,
    /// of every result, likewise
    pub output_layout: *const c_char,
    /// of single inputs, in place of input_layout; if several match an input, the last one counts
    pub input_layouts: *const shw_port_layout,
    pub num_input_layouts: usize,
    /// of single outputs, likewise
    pub output_layouts: *const shw_port_layout,
    pub num_output_layouts: usize,
    pub pins: *const shw_pin,
    pub num_pins: usize,
    /// constraints to leave out, of these options or built-in ones, by their names (shw_status_conflict()); \* and ? are wildcards
    pub without: *const *const c_char,
    pub num_without: usize,
    pub rules: shw_rules,
    /// gradients are cast to it before they are reduced; 0: no cast
    pub grad_reduce_dtype: shw_dtype,
    /// of a rank at every point of a step; 0: none
    pub memory_limit_bytes: i64,
    /// bytes of optimizer state for each byte of a parameter; they count in the limit
    pub optimizer_factor: f64,
    /// for SHW_PARAM_BUDGET_FACTOR; in (0, 1\]
    pub param_budget_factor: f64,
    /// What the backward pass of an entry computes again instead of keeping it from the forward pass. "none": nothing. "cheap": what costs little for the memory that it frees; no matrix products. "selective": in each block, everything but every second product, attention and reductions. "full": all of each block. "every:2": the same in every second block. With "+first-add" appended, the first sum in each block that adds the block's input is kept. Parameters are gathered again; with "+gathered" appended they stay gathered. "auto": as much as memory_limit_bytes requires, chosen block by block for the shortest simulated step. The plan's JSON has a bound on how far this choice is from the best one. Blocks are the activation checkpointing regions of the nodes, or else numbered modules. Tags of nodes (shw_node_options::recompute) take precedence. Placements do not depend on this option, with one exception: under "auto", the memory limit restricts placements only as far as recomputation alone does not meet it. NULL: "none"
    pub recompute: *const c_char,
    /// 0: 512 MiB
    pub prefetch_bytes: i64,
    /// 0: 256
    pub prefetch_depth: i64,
    /// Products that compute gradients of weights may be moved to a later point, where compute would wait for a collective. This option limits the number of products between two reductions of gradients, unless the graph itself has more. 0: 8
    pub products_between_reductions: i64,
    /// Gathers of parameters, and all-reduces of gradients, in one group of ranks are fused into collectives on buffers of at most this many bytes, if that makes the simulated step shorter. A fused collective pays the latency of the network once. Results have the same bits. 0: nothing is fused.
    pub fuse_bytes: i64,
    /// Host memory of a rank in which results of the forward pass may wait for the backward pass. It is used under recompute "auto", if a memory limit requires it, and for no more results than the link can transfer beside compute. The hardware description must have the rate of the link (HARDWARE.md). 0: none.
    pub host_memory_bytes: i64,
    /// 0: SHW_PARAM_BUDGET_SMALLEST
    pub param_budget: shw_param_budget,
    /// The objective.
    pub overlap: shw_overlap,
    /// for SHW_OVERLAP_PREFETCH: from 0 (this communication is free) to 1 (it counts in full)
    pub prefetch_scale: f64,
    /// for SHW_OVERLAP_BOUNDED: the share of compute time beside which communication can run, in (0, 1\]; 0: all of it
    pub bounded_share: f64,
    /// from the start of the call. After it the plan gets the best placement found so far, unproven, with its bound. Lowering and writing the plan are not cut short. 0: no limit
    pub time_limit_s: f64,
    /// the search ends at a placement that is proven to cost at most this share more than the optimum, such as 1e-4; at most 1. 0: 1e-9
    pub gap: f64,
    /// NULL: none
    pub cancel: *const shw_cancel,
    /// NULL: none
    pub progress: shw_progress_fn,
    pub progress_user: *mut c_void,
    /// at most; 0: as many as cores. The plan does not depend on it, unless time_limit_s ends the search
    pub num_threads: i32,
    /// 0
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_summary {
    /// set by SHW_PLAN_SUMMARY_INIT
    pub struct_size: usize,
    /// modelled cost of a step: the sum of the next three
    pub objective_us: f64,
    pub compute_us: f64,
    /// of redistributing operands: collectives and the copies around them
    pub communication_us: f64,
    /// 1 for each operand whose layout changes: breaks ties
    pub transition_us: f64,
    /// proven lower bound of all placements
    pub bound_us: f64,
    /// 1: the objective equals the bound
    pub proven: i32,
    pub num_ranks: i32,
    /// nodes of the rewritten graph that were placed. This graph has an additional alias after each value with several uses and before each output, at which layouts can change
    pub num_nodes: usize,
    /// summed over the nodes
    pub num_strategies: usize,
    /// of the program, collectives included
    pub num_steps: usize,
    pub hardware: *const c_char,
    /// "full", "compat"
    pub rules: *const c_char,
    /// "bounded", "prefetch 0.25", "simulated"; "": none
    pub overlap: *const c_char,
    pub graph_hash: u64,
    pub options_hash: u64,
    pub mesh_hash: u64,
    /// scratch memory of one rank
    pub arena_bytes: i64,
    /// memory of one session of one rank
    pub session_bytes: i64,
    /// host memory of one rank and one session, where results wait
    pub host_bytes: i64,
    /// lower bound of arena_bytes: the largest sum of live buffers
    pub live_peak_bytes: i64,
    /// of the options; 0: none
    pub memory_limit_bytes: i64,
    /// of one rank at the fullest point of a step, as the planner counts it
    pub memory_peak_bytes: i64,
    /// of one rank, to run the program: the ports of each entry in its largest bucket, optimizer state, the arena and one session. Memory limits apply to this number
    pub memory_program_bytes: i64,
    /// where the peak is; shw_plan_get_memory_share() says of what
    pub memory_peak_node: *const c_char,
    /// time saved if the limit were one GiB higher, at the margin
    pub memory_price_us_per_gib: f64,
    /// nodes at which the limit has a price
    pub memory_binding_points: usize,
    /// groups of steps that run together, slice by slice
    pub num_fused_groups: usize,
    /// in all groups
    pub num_fused_steps: usize,
    /// additional memory for a device that runs the groups' steps one by one. An executor allocates the part that its device needs
    pub group_bytes: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_port {
    /// set by SHW_PLAN_PORT_INIT
    pub struct_size: usize,
    /// "param.\<name\>", "buffer.\<name\>", "constant.\<name\>", "input.\<name or position\>", "tangent.\<output\>"; "output" or "output.\<name or position\>" of a result; "grad.\<name\>" and "update.\<name\>" of a parameter, "grad.input.\<name\>", "update.buffer.\<name\>" of other inputs
    pub name: *const c_char,
    pub role: shw_role,
    pub storage: shw_storage,
    pub dtype: shw_dtype,
    /// 0: an output that is never computed (no gradient)
    pub present: i32,
    /// the input whose memory this output overwrites; SHW_NONE: none
    pub updates: usize,
    /// number of dims
    pub rank: i32,
    /// 0
    pub reserved: i32,
    /// of the whole tensor; of a bucket: at its sizes
    pub dims: *const i64,
    /// of one rank's piece; NULL if not present
    pub local_dims: *const i64,
    /// in elements; NULL if not present
    pub local_strides: *const i64,
    /// one placement for each mesh axis: "S(0)R"
    pub layout: *const c_char,
    /// of a bucket: `dims` as expressions of symbols, "\[1,2\*cache\]"; NULL: they depend on no symbol
    pub symbolic_dims: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_entry {
    /// set by SHW_PLAN_ENTRY_INIT
    pub struct_size: usize,
    /// "step": forward and backward; where an entry has several buckets, with the sizes of each: "decode@cache=16"
    pub name: *const c_char,
    /// in the objective: how often it is called, compared with the others
    pub weight: f64,
    /// ports, in the order of shw_run::inputs; state and constants are not among them
    pub inputs: *const usize,
    pub num_inputs: usize,
    /// ports, in the order of shw_run::outputs; updates of state are not among them
    pub outputs: *const usize,
    pub num_outputs: usize,
    /// entries that must have run before it in the same session
    pub after: *const usize,
    pub num_after: usize,
    pub num_steps: usize,
    /// of one rank; a part of input_bytes
    pub parameter_bytes: i64,
    /// of one rank
    pub input_bytes: i64,
    /// of one rank; outputs that overwrite inputs do not count
    pub output_bytes: i64,
    /// the entry of the graph that this is a bucket of; "": none
    pub bucket_of: *const c_char,
    /// of a bucket: the size of each symbol of the plan, in their order; -1: the entry does not depend on it. NULL: no bucket
    pub symbol_sizes: *const i64,
}

/// Simulated time and memory of one run of an entry. The steps take the times of the cost model and
/// run on the queues of a rank, with communication beside computation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_entry_time {
    /// set by SHW_PLAN_ENTRY_TIME_INIT
    pub struct_size: usize,
    /// from the first step to the end of the last
    pub us: f64,
    /// of that: communication with no computation beside it
    pub exposed_us: f64,
    /// of exposed_us: the part that no order of the steps hides
    pub unavoidable_us: f64,
    /// no order of the steps is faster
    pub lower_bound_us: f64,
    /// of steps that wait for each other
    pub longest_chain_us: f64,
    /// of one rank: ports, state, session, scratch
    pub device_peak_bytes: i64,
}

/// A size of a symbol. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_symbol_size {
    /// its name
    pub symbol: *const c_char,
    pub size: i64,
}

/// of two plans; immutable.
#[repr(C)]
pub struct shw_comparison {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// How a node of two plans differs.
pub type shw_difference = i32;
pub const SHW_DIFFERENCE_RESULT: shw_difference = 1;
pub const SHW_DIFFERENCE_OPERANDS: shw_difference = 2;
pub const SHW_DIFFERENCE_ONLY_BEFORE: shw_difference = 3;
pub const SHW_DIFFERENCE_ONLY_AFTER: shw_difference = 4;

/// A node that differs. Strings are lent by the comparison.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_comparison_node {
    /// set by SHW_COMPARISON_NODE_INIT
    pub struct_size: usize,
    pub name: *const c_char,
    /// layout of its result; "" if `difference` is not of the result
    pub from: *const c_char,
    /// likewise
    pub to: *const c_char,
    pub difference: shw_difference,
    /// 0
    pub reserved: i32,
}

/// memory and streams of one accelerator; immutable.
#[repr(C)]
pub struct shw_device {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// a tensor, or one rank's piece of one, in device memory.
#[repr(C)]
pub struct shw_buffer {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_device_info {
    /// set by SHW_DEVICE_INFO_INIT
    pub struct_size: usize,
    /// "cpu"; lives as long as the library
    pub name: *const c_char,
    pub kind: shw_device_kind,
    pub index: i32,
    /// 0: a dry run; the values of outputs are unspecified
    pub computes: i32,
    /// 1: the host can read and write its memory
    pub host_access: i32,
    /// 1: shw_executor_options::native_stream can be given
    pub native_streams: i32,
    /// 0
    pub reserved: i32,
    /// of kernels
    pub num_launches: i64,
    /// of one rank
    pub num_collectives: i64,
    /// allocated now
    pub memory_bytes: i64,
    /// allocated at most
    pub peak_memory_bytes: i64,
}

/// Called once, from any thread, when the library no longer uses the memory. Must not call the
/// library.
pub type shw_release_fn =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;

pub type shw_borrow = i32;
pub const SHW_BORROW_COPY: shw_borrow = 1;
pub const SHW_BORROW_UNTIL_RELEASE: shw_borrow = 2;

/// a graph prepared for a mesh.
#[repr(C)]
pub struct shw_planner {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// What one call changes in the planner's options, for this call alone. All pointers are lent for
/// the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_planner_changes {
    /// set by SHW_PLANNER_CHANGES_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// NULL: as in the options
    pub input_layout: *const c_char,
    /// NULL: as in the options
    pub output_layout: *const c_char,
    /// appended to those of the options; they take precedence
    pub input_layouts: *const shw_port_layout,
    pub num_input_layouts: usize,
    /// likewise
    pub output_layouts: *const shw_port_layout,
    pub num_output_layouts: usize,
    /// appended to those of the options
    pub pins: *const shw_pin,
    pub num_pins: usize,
    /// appended to those of the options; they may name constraints of these changes too
    pub without: *const *const c_char,
    pub num_without: usize,
    /// JSON of shw_plan_to_placements(): the nodes that it names get these placements; empty: none
    pub placements: shw_bytes,
    /// 0: as in the options
    pub memory_limit_bytes: i64,
    /// for SHW_PARAM_BUDGET_FACTOR; in (0, 1\]
    pub param_budget_factor: f64,
    /// 0: as in the options
    pub param_budget: shw_param_budget,
    /// 0
    pub reserved: i32,
    /// from the start of the call, for all its solves. After it the best answer found so far is returned, unproven. 0: as in the options
    pub time_limit_s: f64,
    /// NULL: none, also if the options have one
    pub cancel: *const shw_cancel,
    /// NULL: none
    pub progress: shw_progress_fn,
    pub progress_user: *mut c_void,
}

/// of a node's placement; immutable.
#[repr(C)]
pub struct shw_explanation {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// of a whole plan; immutable.
#[repr(C)]
pub struct shw_plan_explanation {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Options of shw_planner_explain(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_explanation_options {
    /// set by SHW_EXPLANATION_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// a layout to solve for in any case, one placement for each mesh axis: "S(0)R"; NULL: none
    pub layout: *const c_char,
    /// number of layouts to solve for: those with the lowest bounds; 0: 3
    pub num_forced: usize,
}

/// A node, its placement, and the plan that it is part of. Strings are lent by the explanation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_explanation_summary {
    /// set by SHW_EXPLANATION_SUMMARY_INIT
    pub struct_size: usize,
    pub node: *const c_char,
    pub op: *const c_char,
    /// "": none
    pub module_path: *const c_char,
    /// the chosen one: "(S(0)R, RS(1)) -\> S(0)S(1)"
    pub strategy: *const c_char,
    pub phase: shw_phase,
    /// of the plan
    pub proven: i32,
    /// of the node
    pub compute_us: f64,
    /// of the edges into it
    pub communication_us: f64,
    pub transition_us: f64,
    /// of the plan
    pub objective_us: f64,
    pub bound_us: f64,
    /// the cheapest alternative that was not chosen; SHW_NONE: none, or not found in time
    pub second_best: usize,
    /// of the plan, simulated, with SHW_OVERLAP_SIMULATED; else 0
    pub step_us: f64,
}

/// A layout that the node's result could have. Costs are at the prices of the plan: a layout change
/// that the plan's program makes once for several uses counts once. All other changes count for each
/// use. Strings are lent by the explanation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_explanation_alternative {
    /// set by SHW_EXPLANATION_ALTERNATIVE_INIT
    pub struct_size: usize,
    pub layout: *const c_char,
    pub chosen: i32,
    /// 1: the plan was solved again with this layout pinned; only then the fields from `possible` on are set
    pub forced: i32,
    /// strategies of the node that have this layout
    pub num_strategies: usize,
    /// lower bound of all plans that have it; infinity: no plan has it
    pub floor_us: f64,
    /// 0: no plan has it
    pub possible: i32,
    pub proven: i32,
    /// of the best plan that has it
    pub objective_us: f64,
    pub bound_us: f64,
    /// of the node in that plan
    pub strategy: *const c_char,
    /// nodes whose strategy differs in that plan
    pub changed_nodes: usize,
    /// of that plan, simulated, with SHW_OVERLAP_SIMULATED; else 0
    pub step_us: f64,
}

/// A strategy of the node. Strings are lent by the explanation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_explanation_strategy {
    /// set by SHW_EXPLANATION_STRATEGY_INIT
    pub struct_size: usize,
    /// "(S(0)R, RS(1)) -\> S(0)S(1)"
    pub name: *const c_char,
    pub chosen: i32,
    /// 0
    pub reserved: i32,
    /// of the node
    pub compute_us: f64,
    /// lower bound of all plans that have it; infinity: no plan has it
    pub floor_us: f64,
}

/// An edge at the node. Strings are lent by the explanation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_explanation_edge {
    /// set by SHW_EXPLANATION_EDGE_INIT
    pub struct_size: usize,
    pub producer: *const c_char,
    pub consumer: *const c_char,
    /// of the consumer
    pub operand: usize,
    /// layout of the producer's result
    pub from: *const c_char,
    /// layout that the consumer needs
    pub to: *const c_char,
    pub communication_us: f64,
    pub transition_us: f64,
}

/// The costs of a plan, and how far prices may change before another plan is better.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_explanation_summary {
    /// set by SHW_PLAN_EXPLANATION_SUMMARY_INIT
    pub struct_size: usize,
    pub objective_us: f64,
    pub compute_us: f64,
    pub communication_us: f64,
    pub transition_us: f64,
    pub bound_us: f64,
    /// edges that communicate
    pub num_paying_edges: usize,
    pub proven: i32,
    /// 0: a solve ended without proof; the range may be smaller
    pub factor_exact: i32,
    pub factor_from: f64,
    /// 1024: larger factors were not examined
    pub factor_to: f64,
    /// Under a memory limit: the plan is optimal for limits from its own peak up to memory_to_at_least_bytes; at memory_to_below_bytes a cheaper plan fits. Without a memory limit: 0, infinity, infinity.
    pub memory_from_bytes: f64,
    pub memory_to_at_least_bytes: f64,
    /// infinity: at no limit
    pub memory_to_below_bytes: f64,
    /// 0: a solve ended without proof; the range may be smaller
    pub memory_exact: i32,
    /// 0
    pub reserved: i32,
}

/// A plan that is better outside the range of factors. Costs are at today's prices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_explanation_rival {
    /// set by SHW_PLAN_EXPLANATION_RIVAL_INIT
    pub struct_size: usize,
    /// at which both plans cost the same: an end of the range
    pub factor: f64,
    pub compute_us: f64,
    pub communication_us: f64,
    pub transition_us: f64,
    /// nodes whose strategy differs in that plan
    pub changed_nodes: usize,
}

/// Edges that are alike: same operations and layouts, into modules whose paths differ only in
/// numbers. Strings are lent by the explanation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_explanation_group {
    /// set by SHW_PLAN_EXPLANATION_GROUP_INIT
    pub struct_size: usize,
    /// of the consumers, with numbers as \*: "layers.\*.attention.wq"
    pub module_path: *const c_char,
    /// operation
    pub producer: *const c_char,
    /// operation
    pub consumer: *const c_char,
    /// layout of the producer's result
    pub from: *const c_char,
    /// layout that the consumer needs
    pub to: *const c_char,
    /// of edges
    pub count: usize,
    /// of all
    pub communication_us: f64,
}

/// The format of a graph that is imported.
pub type shw_graph_format = i32;
pub const SHW_GRAPH_FORMAT_FX_JSON: shw_graph_format = 1;
pub const SHW_GRAPH_FORMAT_TEXT: shw_graph_format = 2;

/// What a graph consists of.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_graph_summary {
    /// set by SHW_GRAPH_SUMMARY_INIT
    pub struct_size: usize,
    pub num_nodes: usize,
    pub num_parameters: usize,
    pub num_buffers: usize,
    pub num_tangents: usize,
    /// all others
    pub num_inputs: usize,
    pub num_gradients: usize,
    /// all other outputs
    pub num_results: usize,
    /// of whole tensors
    pub parameter_bytes: i64,
}

/// Options of shw_graph_import_onnx().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_onnx_options {
    /// set by SHW_ONNX_OPTIONS_INIT
    pub struct_size: usize,
    /// Values of the sizes that the model leaves open, by their names in the model: "batch=8,sequence=1..512". A range makes the size a symbol of the graph. After a range, "/8" says that all sizes are multiples of 8, and "@128" gives a typical size (otherwise the largest). A size without a name is identified by its input and dim: "x:0=8". NULL: none. Lent for the call.
    pub sizes: *const c_char,
    /// Bytes in the format safetensors: values of inputs of the model, by their names. These inputs, such as a shape or axes, become constants of the graph. Empty: none. Lent for the call.
    pub constants: shw_bytes,
    /// Path of libshardwise_onnx.so; NULL: beside this library, in ../lib from there, or where the system looks for libraries. Lent for the call.
    pub plugin: *const c_char,
}

/// a description fitted to measurements; immutable.
#[repr(C)]
pub struct shw_calibration {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// The main figures of a machine. All others: shw_hardware_to_json().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_hardware_info {
    /// set by SHW_HARDWARE_INFO_INIT
    pub struct_size: usize,
    /// of one device, as are the next five, and flops_f8
    pub memory_bytes_per_s: f64,
    /// per second; 0: unknown
    pub flops_f64: f64,
    pub flops_f32: f64,
    pub flops_f16: f64,
    pub flops_bf16: f64,
    pub flops_i8: f64,
    /// share of these rates that kernels reach
    pub efficiency: f64,
    /// least time of a kernel
    pub launch_us: f64,
    pub devices_per_node: i64,
    /// of one device, to the others of its node
    pub intra_bytes_per_s: f64,
    /// of one device, to other nodes
    pub inter_bytes_per_s: f64,
    /// 1: NCCL's cost model; 0: a simple ring
    pub nccl_model: i32,
    /// 0
    pub reserved: i32,
    /// collectives whose price is measured, not modelled
    pub num_measured: usize,
    /// of 8-bit floats
    pub flops_f8: f64,
}

/// Output of a program of nccl-tests or rccl-tests: all_gather_perf, reduce_scatter_perf,
/// all_reduce_perf, alltoall_perf, sendrecv_perf. Other output in between, of mpirun or of NCCL, is
/// skipped. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_calibration_file {
    /// for messages
    pub name: *const c_char,
    pub output: shw_bytes,
    /// "all_gather", "reduce_scatter", "all_reduce", "all_to_all"; NULL: the output names it
    pub collective: *const c_char,
}

/// Options of shw_calibration_create(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_calibration_options {
    /// set by SHW_CALIBRATION_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// to start from; NULL: "h100", or hardware_description
    pub hardware: *const c_char,
    /// in place of `hardware`; empty: none
    pub hardware_description: shw_bytes,
    /// of the result; NULL: that of the base with "-calibrated"; "cpu-measured" or "cuda-measured" with a device
    pub name: *const c_char,
    /// "cpu", "cuda": measure this machine, without files and without a base; NULL: fit the base to files
    pub device: *const c_char,
}

/// One run of a file, and how far prices are from its times. An error is a factor minus 1: a price
/// of twice the time and a price of half the time both have the error 1. Means are geometric.
/// Strings are lent by the calibration.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_calibration_collective {
    /// set by SHW_CALIBRATION_COLLECTIVE_INIT
    pub struct_size: usize,
    pub file: *const c_char,
    /// of the file, where the run begins
    pub line: usize,
    pub collective: *const c_char,
    pub num_nodes: i64,
    pub devices_per_node: i64,
    /// message sizes
    pub num_sizes: usize,
    /// of the base, before fitting
    pub base_error_mean: f64,
    pub base_error_max: f64,
    /// of the model with fitted figures
    pub model_error_mean: f64,
    pub model_error_max: f64,
    /// of the result, which has lines for the groups that were measured
    pub lines_error_mean: f64,
    pub lines_error_max: f64,
}

/// A figure of the cost model. Strings are lent by the calibration.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_calibration_figure {
    /// set by SHW_CALIBRATION_FIGURE_INIT
    pub struct_size: usize,
    /// as in descriptions: "nccl.inter_gb_per_s"
    pub name: *const c_char,
    pub before: f64,
    pub after: f64,
    /// 0: no price of the runs depends on this figure; it is unchanged
    pub determined: i32,
    /// 0
    pub reserved: i32,
}

/// immutable.
#[repr(C)]
pub struct shw_pareto {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Options of shw_planner_pareto().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_pareto_options {
    /// set by SHW_PARETO_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// to find, if so many exist: 2 to 1000; 0: 12
    pub num_points: usize,
    /// of branch and bound, for each memory limit. When they are used up, the best placement found so far is reported, unproven, with its bound. 0: by the size of the graph
    pub max_branch_nodes: u64,
}

/// The cheapest placement under one memory limit; with SHW_OVERLAP_SIMULATED, the fastest found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_pareto_point {
    /// set by SHW_PARETO_POINT_INIT
    pub struct_size: usize,
    /// 0: none
    pub limit_bytes: i64,
    /// of one rank, as the planner counts it
    pub peak_bytes: i64,
    /// memory that the lowered program needs; 0: not known
    pub program_bytes: i64,
    pub objective_us: f64,
    /// proven lower bound under this limit
    pub bound_us: f64,
    pub proven: i32,
    /// 0
    pub reserved: i32,
    /// time saved if the limit were one GiB higher, at the margin
    pub price_us_per_gib: f64,
    /// simulated, with SHW_OVERLAP_SIMULATED; else 0
    pub step_us: f64,
}

/// The placement of one node of the graph.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_node {
    /// set by SHW_PLAN_NODE_INIT
    pub struct_size: usize,
    pub name: *const c_char,
    /// "mm"; "local_map tp": a region, and which of its bodies was picked
    pub op: *const c_char,
    /// "layers.0.attention.wq"; "": none
    pub module_path: *const c_char,
    pub phase: shw_phase,
    /// 0
    pub reserved: i32,
    /// "S(0)R, RS(1)"
    pub operand_layouts: *const c_char,
    /// "S(0)S(2)"; of several results in parentheses
    pub result_layout: *const c_char,
    pub compute_us: f64,
    pub communication_us: f64,
    /// of the layout changes of its operands
    pub transition_us: f64,
}

/// One step: a kernel, or a collective.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_step {
    /// set by SHW_PLAN_STEP_INIT
    pub struct_size: usize,
    /// "mm", "local_slice", "all_gather"
    pub kernel: *const c_char,
    pub entry: usize,
    pub phase: shw_phase,
    /// 0: computes; each other stream: the collectives of one communicator
    pub stream: i32,
    /// node of the caller's graph that it belongs to; SHW_NONE: none
    pub node_index: usize,
    /// collective: mesh axes of the group, or parts of them from SHW_FIRST_MESH_PART on, outermost first; NULL: none
    pub axes: *const u8,
    pub num_axes: usize,
    /// reduce-scatter, all-reduce: "sum", "avg", "max", "min", "product"; ""
    pub reduce: *const c_char,
    /// bytes that one rank sends, counted for a ring
    pub wire_bytes: i64,
    /// modelled
    pub cost_us: f64,
    /// collective_permute: the axes in another order, num_axes of them; NULL: none. The member with number i in this order receives the data of the member with number i in the order of `axes`.
    pub to_axes: *const u8,
}

/// All steps of one kind of collective.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_collective {
    /// set by SHW_PLAN_COLLECTIVE_INIT
    pub struct_size: usize,
    /// "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "collective_permute"
    pub kind: *const c_char,
    /// steps of the program
    pub count: usize,
    /// bytes that one rank sends, counted for rings
    pub wire_bytes: i64,
}

/// Memory of one kind that one module holds when a step needs the most memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_memory_share {
    /// set by SHW_PLAN_MEMORY_SHARE_INIT
    pub struct_size: usize,
    /// "parameters", "optimizer_state", "gradients", "inputs" (also buffers), "results", "activations" (kept from forward to backward), "temporaries"
    pub kind: *const c_char,
    /// "layers.0.attention.wq"; "": none
    pub module_path: *const c_char,
    /// of one rank
    pub bytes: i64,
}

/// Wall clock of one part of a compilation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_phase {
    /// set by SHW_PLAN_PHASE_INIT
    pub struct_size: usize,
    /// "load", "rewrite", "strategies", "price", "solve", "lower", "passes", "write", "read"
    pub name: *const c_char,
    pub duration_s: f64,
}

/// The work of the solver.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_plan_effort {
    /// set by SHW_PLAN_EFFORT_INIT
    pub struct_size: usize,
    pub num_variables: usize,
    pub num_edges: usize,
    /// summed over the variables
    pub num_strategies: usize,
    pub num_sweeps: usize,
    pub num_branch_nodes: usize,
}

/// plans of one model, compared; immutable.
#[repr(C)]
pub struct shw_recipes {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Options of shw_planner_compare(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_recipes_options {
    /// set by SHW_RECIPES_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// names: "ddp", "fsdp", "hsdp", "tp", "tp-sp", "fsdp-tp", "cp"
    pub recipes: *const *const c_char,
    /// 0: all
    pub num_recipes: usize,
    /// JSON of layouts to score as well: of shw_plan_to_placements(), of shw_planner_export(), or an object of layouts by name of a node, input or output. Empty: none
    pub foreign: shw_bytes,
    /// of its row; NULL: "foreign"
    pub foreign_name: *const c_char,
}

/// Where the plan of a row comes from.
pub type shw_recipes_kind = i32;
pub const SHW_RECIPES_OPTIMUM: shw_recipes_kind = 0;
pub const SHW_RECIPES_OPTIONS: shw_recipes_kind = 1;
pub const SHW_RECIPES_RECIPE: shw_recipes_kind = 2;
pub const SHW_RECIPES_FOREIGN: shw_recipes_kind = 3;

/// One plan. Strings are lent by the comparison. Figures are of one rank. They are sums over the
/// entries, weighted by how often each is called. All are 0 if there is no plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_recipes_row {
    /// set by SHW_RECIPES_ROW_INIT
    pub struct_size: usize,
    /// "fsdp"
    pub name: *const c_char,
    pub title: *const c_char,
    /// why there is no plan; "": there is one
    pub why_not: *const c_char,
    /// from the optimum, in a line; "": this is the optimum
    pub difference: *const c_char,
    pub kind: shw_recipes_kind,
    /// 1: proven to be the cheapest of its kind
    pub proven: i32,
    /// 1: its simulated step is shorter than that of the optimum. Possible only if the optimum is the cheapest placement: prices count communication that a schedule hides
    pub ahead: i32,
    /// 0
    pub reserved: i32,
    /// simulated
    pub step_us: f64,
    /// of kernels
    pub compute_us: f64,
    /// communication that compute waits for
    pub exposed_us: f64,
    /// the objective: one operation after another
    pub price_us: f64,
    /// of memory
    pub peak_bytes: i64,
    /// sent
    pub wire_bytes: i64,
    pub num_collectives: u64,
    /// nodes that cannot follow the recipe; the planner chose their layouts
    pub num_free: u64,
    /// nodes of the foreign plan that the graph does not have
    pub num_unknown: u64,
}

/// the ranks that communicate with each other.
#[repr(C)]
pub struct shw_world {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Identifies a world while its parts are made. Opaque. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_world_id {
    pub bytes: [u8; 128],
}

/// Options of all functions that create worlds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_world_options {
    /// set by SHW_WORLD_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// of each wait for another rank; 0: 10 minutes; negative: no limit
    pub timeout_ns: i64,
    /// MPI only: path of libshardwise_mpi.so; NULL: beside this library, in ../lib from there, or where the system looks for libraries; lent for the call
    pub mpi_plugin: *const c_char,
}

/// one rank's kernels, memory and streams for a plan.
#[repr(C)]
pub struct shw_executor {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// values that entries leave for later entries.
#[repr(C)]
pub struct shw_session {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// the end of a run: success, error, or cancelled.
#[repr(C)]
pub struct shw_event {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// ranks that the body of a manual region talks to.
#[repr(C)]
pub struct shw_group {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Called once when a run has ended: SHW_OK, or the code of its error. Called from a thread of the
/// library, which must not be blocked, or from within the call that registers it. Must not call the
/// library: wake a thread of your own instead.
pub type shw_done_fn =
    Option<unsafe extern "C" fn(*mut c_void, shw_code)>;

/// One execution of a manual region (op local_map) on one rank. All that it points to is lent for
/// the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_region_call {
    /// bytes that this library filled in
    pub struct_size: usize,
    /// the region's name
    pub region: *const c_char,
    /// this rank's pieces of the operands, as `in_placements` says; may be strided; `data` is NULL where an operand is absent. Read only
    pub inputs: *const shw_tensor,
    pub num_inputs: usize,
    /// to be filled: this rank's pieces of the results, row-major; `data` is NULL where a result is absent or not needed
    pub outputs: *const shw_tensor,
    pub num_outputs: usize,
    /// of the rank along the mesh axes
    pub coordinates: *const i64,
    /// sizes of the mesh axes
    pub mesh: *const i64,
    pub num_axes: i32,
    pub rank: i32,
    /// attribute `groups` of the node, in its order
    pub groups: *const *mut shw_group,
    pub num_groups: usize,
}

/// The body of a manual region. It runs at its place in the rank's compute stream, on the stream's
/// thread, so calls for different ranks overlap. Equal inputs must give equal outputs, because equal
/// regions may be merged. The body exchanges data with other ranks through its groups. It may call
/// no functions of the library but shw_group_…. An abort cannot interrupt anything else that it
/// does. Returns SHW_OK, or the code with which the run fails.
pub type shw_region_fn =
    Option<unsafe extern "C" fn(*mut c_void, *const shw_region_call) -> shw_code>;

/// The body of all regions of one name. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_region {
    /// attribute `region` of the nodes
    pub name: *const c_char,
    pub run: shw_region_fn,
    /// must stay valid until the executor is destroyed
    pub user: *mut c_void,
}

/// Options of shw_executor_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_executor_options {
    /// set by SHW_EXECUTOR_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_EXECUTOR_GRAPHS
    pub flags: u64,
    /// to run on; NULL: the CPU, with memory of the world's context. Runs on SHW_DEVICE_NULL do not wait for other ranks
    pub device: *mut shw_device,
    /// to compute on, such as a cudaStream_t; NULL: a stream of its own
    pub native_stream: *mut c_void,
    /// bodies of manual regions, distinct names; lent for the call
    pub regions: *const shw_region,
    pub num_regions: usize,
    /// of a run, from the end of the run before it. If it passes, this run and all that follow end with SHW_DEADLINE_EXCEEDED on this rank, and the other ranks are aborted. 0: none
    pub time_limit_ns: i64,
    /// runs; enqueue blocks while so many are unfinished; 0: 4
    pub max_in_flight: i32,
    /// 0
    pub reserved: i32,
}

/// One run of an entry on one rank. All arrays are lent for the call; the struct can be used again.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_run {
    /// set by SHW_RUN_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// its number: shw_plan_find_entry()
    pub entry: usize,
    /// This rank's pieces, in the order of shw_plan_entry::inputs; NULL where a port is not present. A piece has the same shape on every rank. If a dim is not divided evenly, the end of the last ranks' pieces is padding. Padding may have any values, also in outputs.
    pub inputs: *const *mut shw_buffer,
    pub num_inputs: usize,
    /// In the order of shw_plan_entry::outputs. Set each element before the call:   a buffer   receives the output. Nothing is allocated: use this to run step after step   NULL       becomes a new handle, which the caller destroys   NULL, and the port is not present   stays NULL A buffer must be aligned to its elements. If the plan was made with SHW_COMPILE_LEND_OUTPUTS, the buffer of an output must be aligned to 256 bytes. For an output that overwrites an input (shw_plan_port::updates), give that input's buffer, or NULL, which becomes another handle of the same memory. No other output may overlap an input. If the call fails, all elements stay as they were.
    pub outputs: *mut *mut shw_buffer,
    pub num_outputs: usize,
    /// Runs of other executors that must end before this one begins. If one failed, this run fails.
    pub wait_for: *const *mut shw_event,
    pub num_wait_for: usize,
    /// of this executor; NULL: the executor's own
    pub session: *mut shw_session,
}

/// Options of shw_plan_bench(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_bench_options {
    /// set by SHW_BENCH_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_BENCH_…
    pub flags: u64,
    /// its name; NULL: the first
    pub entry: *const c_char,
    /// 0: SHW_DEVICE_CPU. SHW_DEVICE_CUDA: each rank on a device of its own. SHW_DEVICE_NULL computes nothing: the times are those of launches
    pub device: shw_device_kind,
    /// runs before those that are timed; 0: 2; negative: none
    pub warm_up: i32,
    /// runs that are timed; 0: 10
    pub repeats: i32,
    /// 0
    pub reserved: i32,
}

/// Options of shw_bench_collectives(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_collective_bench_options {
    /// set by SHW_COLLECTIVE_BENCH_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_BENCH_TEXT: the tables that nccl-tests prints
    pub flags: u64,
    /// of the ranks; at most 6
    pub mesh_axes: *const shw_mesh_axis,
    /// 0: one rank
    pub num_mesh_axes: usize,
    /// names of the axes along which ranks communicate
    pub group: *const *const c_char,
    /// 0: all of them
    pub num_group: usize,
    /// the smallest size; 0: 1 KiB
    pub min_bytes: i64,
    /// the largest; 0: 4 MiB
    pub max_bytes: i64,
    /// from one size to the next, 2 or more; 0: 4
    pub factor: i64,
    /// F32, F64, F16, BF16, I32 or I64; 0: F32
    pub dtype: shw_dtype,
    /// 0: SHW_DEVICE_CPU. SHW_DEVICE_CUDA: each rank on a device of its own
    pub device: shw_device_kind,
    /// launches before those that are timed; 0: 5; negative: none
    pub warm_up: i32,
    /// launches that are timed; 0: 20
    pub repeats: i32,
}

/// a world, and an executor for each of its ranks.
#[repr(C)]
pub struct shw_runner {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// a run that was started.
#[repr(C)]
pub struct shw_pending {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// A port by name ("input.x"), and the whole tensor for it. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_named_tensor {
    pub name: *const c_char,
    /// in host memory, with the port's dims and dtype
    pub tensor: shw_tensor,
}

/// meshes, best first; immutable.
#[repr(C)]
pub struct shw_search {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Options of shw_search_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_search_options {
    /// set by SHW_SEARCH_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_SEARCH_\*
    pub flags: u64,
    /// 1 to 2^20
    pub num_devices: i64,
    /// 1 to 6; 0: 3
    pub max_mesh_dims: usize,
    /// how many of the best meshes are needed. Another mesh is given up as soon as its bound shows that it is not one of them; how soon depends on threads. With SHW_OVERLAP_SIMULATED no mesh is given up. 0: all
    pub num_best: usize,
    /// at most; 0: as many as cores. Plans do not depend on it, unless time_limit_s ends their search
    pub num_threads: i32,
    /// 0
    pub reserved: i32,
}

/// A mesh and its plan. Strings are lent by the search.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_search_candidate {
    /// set by SHW_SEARCH_CANDIDATE_INIT
    pub struct_size: usize,
    /// "d0=8,d1=8"
    pub mesh: *const c_char,
    /// as requested; "": free
    pub input_layout: *const c_char,
    /// mesh axes that shard the first dim of every input: "d0,d2"
    pub batch: *const c_char,
    /// why there is no plan; "": there is one
    pub error: *const c_char,
    /// of that error; SHW_OK: none
    pub code: shw_code,
    /// 1: it is not among the best; only bound_us is known
    pub given_up: i32,
    pub proven: i32,
    /// 0
    pub reserved: i32,
    /// counts a change of layout once for each use of a value. A plan for this mesh may share some of the changes and cost less
    pub objective_us: f64,
    pub bound_us: f64,
    pub compute_us: f64,
    pub communication_us: f64,
    /// of the steps of the lowered program
    pub program_us: f64,
    /// simulated, of all entries by their weights
    pub step_us: f64,
    /// of one rank, as the planner counts it
    pub memory_peak_bytes: i64,
    pub duration_s: f64,
}

/// of a placement problem; immutable.
#[repr(C)]
pub struct shw_solution {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// The format of a problem: JSON, plain or gzipped. 0: SHW_PROBLEM_FORMAT_AP.
pub type shw_problem_format = i32;
pub const SHW_PROBLEM_FORMAT_AP: shw_problem_format = 1;
pub const SHW_PROBLEM_FORMAT_IOPDDL: shw_problem_format = 2;

/// Options of shw_solution_create(). All pointers are lent for the call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_solution_options {
    /// set by SHW_SOLUTION_OPTIONS_INIT
    pub struct_size: usize,
    /// SHW_SOLUTION_\*
    pub flags: u64,
    pub format: shw_problem_format,
    /// at most; 0: as many as cores. The solution does not depend on it, unless time_limit_s ends the search
    pub num_threads: i32,
    /// from the start of the call. After it the best solution found so far is returned, unproven, with its bound. 0: no limit
    pub time_limit_s: f64,
    /// NULL: none
    pub cancel: *const shw_cancel,
    /// NULL: none
    pub progress: shw_progress_fn,
    pub progress_user: *mut c_void,
}

/// Costs have the unit of the problem: modelled microseconds, where AutoParallel exported it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_solution_summary {
    /// set by SHW_SOLUTION_SUMMARY_INIT
    pub struct_size: usize,
    /// cost of the chosen strategies
    pub objective: f64,
    /// proven lower bound of all choices
    pub bound: f64,
    /// of the solve
    pub duration_s: f64,
    /// 1: the objective equals the bound
    pub proven: i32,
    /// 1: lp_solve is not installed; it might have closed the gap
    pub lp_solve_missing: i32,
    pub num_variables: usize,
    pub num_edges: usize,
    /// summed over the variables
    pub num_strategies: usize,
    pub num_variables_after_presolve: usize,
    pub num_sweeps: usize,
    pub num_strategies_after_presolve: usize,
    pub num_branch_nodes: usize,
}

/// A limit on what the chosen strategies use together, such as memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_solution_budget {
    /// set by SHW_SOLUTION_BUDGET_INIT
    pub struct_size: usize,
    pub limit: f64,
    /// use at the fullest point
    pub peak: f64,
}

/// What a budget costs at one point: the amount by which the optimum of the relaxation would fall if
/// the limit at this point were one unit higher.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_solution_price {
    /// set by SHW_SOLUTION_PRICE_INIT
    pub struct_size: usize,
    pub budget: usize,
    pub point: usize,
    pub price: f64,
}

/// of one run; immutable.
#[repr(C)]
pub struct shw_verification {
    _data: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// What is wrong with a result, if anything.
pub type shw_verdict = i32;
pub const SHW_VERDICT_RIGHT: shw_verdict = 1;
pub const SHW_VERDICT_TOO_FAR: shw_verdict = 2;
pub const SHW_VERDICT_SCALED: shw_verdict = 3;
pub const SHW_VERDICT_DIFFERENT: shw_verdict = 4;
pub const SHW_VERDICT_WRONG_PLAN: shw_verdict = 5;

/// State that executors keep, before the run and after it. Whole tensors, in host memory. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_verification_state {
    /// its number: shw_plan_find_port(); an input of SHW_STORAGE_STATE
    pub port: usize,
    pub before: shw_tensor,
    pub after: shw_tensor,
}

/// Options of shw_verification_create(). All pointers are lent for the call, with all that they
/// point to. Tensors are whole, in host memory, with the dims and dtypes of their ports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_verification_options {
    /// set by SHW_VERIFICATION_OPTIONS_INIT
    pub struct_size: usize,
    /// 0: none is defined yet
    pub flags: u64,
    /// the entry that was run; its number: shw_plan_find_entry()
    pub entry: usize,
    /// of the run, in the order of shw_plan_entry::inputs
    pub inputs: *const shw_tensor,
    pub num_inputs: usize,
    /// of the run, in the order of shw_plan_entry::outputs. `data` may be NULL where a port is not present
    pub outputs: *const shw_tensor,
    pub num_outputs: usize,
    /// results of another program for the same inputs, in the order of outputs; `data` is NULL where there is none. NULL: none at all
    pub expected: *const shw_tensor,
    /// 0, or as many as outputs
    pub num_expected: usize,
    /// bodies of manual regions. They must also work in f64 and on whole tensors
    pub regions: *const shw_region,
    pub num_regions: usize,
    /// NULL: none
    pub cancel: *const shw_cancel,
    /// all state of the plan, in any order
    pub state: *const shw_verification_state,
    pub num_state: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_verification_summary {
    /// set by SHW_VERIFICATION_SUMMARY_INIT
    pub struct_size: usize,
    /// results of the run that are not right
    pub num_wrong: usize,
    /// expected tensors that are not right
    pub num_expected_wrong: usize,
    /// the tensor of the run with the largest error relative to its limit; SHW_NONE: none was judged
    pub worst: usize,
    /// likewise of the expected tensors
    pub worst_expected: usize,
    /// runs at inputs that differ by rounding, to measure its effect
    pub num_samples: usize,
}

/// How one result was judged. Distances are relative to `scale`. Strings are lent by the
/// verification.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct shw_verification_tensor {
    /// set by SHW_VERIFICATION_TENSOR_INIT
    pub struct_size: usize,
    /// of the output
    pub name: *const c_char,
    /// norm of the result in f64, or the noise if that is larger
    pub scale: f64,
    /// distance of the unsharded run from that in f64
    pub unsharded_error: f64,
    /// the largest such distance of all samples
    pub noise: f64,
    /// distance of the plan, run in f64
    pub plan_error: f64,
    /// elements that are not compared, because rounding decides them
    pub num_undecided: usize,
    /// distance of the run
    pub error: f64,
    /// the largest `error` that rounding explains
    pub limit: f64,
    /// the part of `error` that scales the whole tensor
    pub gain: f64,
    pub gain_limit: f64,
    /// elements: SHW_VERDICT_DIFFERENT
    pub num_different: usize,
    pub verdict: shw_verdict,
    /// 0: no tensor was expected, and the rest is 0
    pub expected_verdict: shw_verdict,
    pub expected_error: f64,
    pub expected_limit: f64,
    pub expected_gain: f64,
    pub expected_gain_limit: f64,
    pub num_expected_different: usize,
}

functions! {
    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_symbol_init(symbol: *mut shw_symbol, size: usize);

    /// Version of the library that is loaded, as SHW_MAKE_VERSION packs it.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_api_version() -> u32;

    /// The same with the patch number, "0.2.0".
    ///
    /// * Returns a string that lives as long as the library
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_version_string() -> *const c_char;

    /// Code of a status; SHW_OK for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_code(status: *const shw_status) -> shw_code;

    /// Name of a code, "INVALID_ARGUMENT"; "UNRECOGNISED" for a number that is not a code.
    ///
    /// * Returns a string that lives as long as the library
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_code_name(code: shw_code) -> *const c_char;

    /// What went wrong, for a person: the cause, then number and name of the node if there is one.
    ///
    /// * Returns lent by `status`; "" for NULL
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_message(status: *const shw_status) -> *const c_char;

    /// Index of the node at fault in the graph that the caller gave; SHW_NONE: no node is at fault. For
    /// an error of shw_builder_add_node(): the number that the node would have had.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_node_index(status: *const shw_status) -> usize;

    /// Name of that node. For an error of a run: name of the kernel.
    ///
    /// * Returns lent by `status`; "": none
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_node_name(status: *const shw_status) -> *const c_char;

    /// Number of constraints in the conflict. If no placement satisfies all options, the status lists
    /// a minimal set of constraints that cannot hold together. 0 for every other status.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_num_conflicts(status: *const shw_status) -> usize;

    /// Name of constraint number `index` of the conflict, in the form that shw_compile_options::without
    /// takes.
    ///
    /// * Returns lent by `status`; "" if there is no such constraint
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_conflict(status: *const shw_status, index: usize) -> *const c_char;

    /// The library's source file that returned the error, for bug reports.
    ///
    /// * Returns lent by `status`; "" for NULL
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_source_file(status: *const shw_status) -> *const c_char;

    /// The line in that file; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_source_line(status: *const shw_status) -> i32;

    /// Frees a status. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_status_destroy(status: *mut shw_status);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_context_options_init(options: *mut shw_context_options, size: usize);

    /// Creates a context.
    ///
    /// * `api_version`: SHW_API_VERSION
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_context`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_FAILED_PRECONDITION`: the caller was built for another major version, or a newer minor
    /// * `SHW_INVALID_ARGUMENT`: an option is unknown or out of range
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_context_create(api_version: u32, options: *const shw_context_options, out_context: *mut *mut shw_context) -> *mut shw_status;

    /// Drops the caller's reference. Objects made in the context stay valid. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_context_destroy(context: *mut shw_context);

    /// Creates a flag that is not raised.
    ///
    /// * `out_cancel`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: out_cancel is NULL
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_cancel_create(out_cancel: *mut *mut shw_cancel) -> *mut shw_status;

    /// Raises the flag, which stays raised: one atomic store. Calls that were given the flag end within
    /// 10 ms.
    ///
    /// * Threads: any, also callbacks and signal handlers
    /// * Since 0.2
    pub fn shw_cancel_raise(cancel: *mut shw_cancel);

    /// Frees the flag. No call that was given the flag may still run. NULL is allowed.
    ///
    /// * Threads: external: one thread at a time for each flag
    /// * Since 0.2
    pub fn shw_cancel_destroy(cancel: *mut shw_cancel);

    /// The bytes, aligned to 64. A zero byte, not counted, follows them, so that text is a C string.
    ///
    /// * Returns lent by `blob`; NULL for NULL
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_blob_data(blob: *const shw_blob) -> *const c_void;

    /// Number of bytes; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_blob_size(blob: *const shw_blob) -> usize;

    /// Frees the bytes. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_blob_destroy(blob: *mut shw_blob);

    /// Starts an empty graph.
    ///
    /// * `out_builder`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_create(context: *mut shw_context, out_builder: *mut *mut shw_builder) -> *mut shw_status;

    /// Adds a symbol: a size that is known only at run time. Expressions can name it from now on.
    ///
    /// * `symbol`: lent for the call
    /// * `out_symbol`: the symbol's number; SHW_NONE on failure
    /// * `SHW_INVALID_ARGUMENT`: the name is taken or malformed, no size is possible, the hint is no
    ///   possible size, or there are 64 symbols already; the graph is as
    ///   before
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_symbol(builder: *mut shw_builder, symbol: *const shw_symbol, out_symbol: *mut usize) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_node_options_init(options: *mut shw_node_options, size: usize);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_builder_input_init(input: *mut shw_builder_input, size: usize);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_builder_output_init(output: *mut shw_builder_output, size: usize);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_builder_entry_init(entry: *mut shw_builder_entry, size: usize);

    /// Adds an input.
    ///
    /// * `input`: lent for the call
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_node`: the node's number; SHW_NONE on failure
    /// * `SHW_INVALID_ARGUMENT`: the input or an option is malformed; the graph is as before
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_input(builder: *mut shw_builder, input: *const shw_builder_input, options: *const shw_node_options, out_node: *mut usize) -> *mut shw_status;

    /// Adds a small tensor that is known now, such as a mask or a table. The graph and its plans hold
    /// its values.
    ///
    /// * `name`: unique among the constants
    /// * `tensor`: in host memory, at most 1 MiB; copied
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_node`: the node's number; SHW_NONE on failure
    /// * `SHW_INVALID_ARGUMENT`: the tensor or an option is malformed, or the tensor is too large;
    ///   the graph is as before
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_constant(builder: *mut shw_builder, name: *const c_char, tensor: *const shw_tensor, options: *const shw_node_options, out_node: *mut usize) -> *mut shw_status;

    /// Adds an operation.
    ///
    /// * `op`: "mm", "einsum", "sdpa": shw_op_name()
    /// * `operands`: numbers of nodes, in the order of the op's tensor parameters; lent for the call.
    ///   SHW_NONE stands for an absent operand; absent operands at the end are left out.
    ///   A number for an operand of kind SHW_PARAM_TENSOR_OR_NUMBER is given as an
    ///   attribute of the operand's name, and the operand is absent: "mul" of x by 0.1
    ///   has the operand x and SHW_ATTR_FLOAT("other", 0.1)
    /// * `attrs`: in any order; required ones must be given, others have the default that
    ///   shw_op_get_param() reports; lent for the call
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_node`: the node's number; SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: there is no such operation; the message says what to use instead
    /// * `SHW_INVALID_ARGUMENT`: the operands or attributes do not fit the operation, a required
    ///   attribute is missing, or a size of a result is no expression of the
    ///   symbols; the graph is as before
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_node(builder: *mut shw_builder, op: *const c_char, operands: *const usize, num_operands: usize, attrs: *const shw_attr, num_attrs: usize, options: *const shw_node_options, out_node: *mut usize) -> *mut shw_status;

    /// Adds an output. The plan has the outputs in the order in which they were added.
    ///
    /// * `output`: lent for the call
    /// * `out_output`: the output's number; SHW_NONE on failure
    /// * `SHW_INVALID_ARGUMENT`: the output is malformed, or there is one of its name already; the
    ///   graph is as before
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_output(builder: *mut shw_builder, output: *const shw_builder_output, out_output: *mut usize) -> *mut shw_status;

    /// Adds an entry. Its inputs are those that its outputs need, in the order of the graph's inputs. A
    /// graph without entries gets one, "step", with all inputs and outputs.
    ///
    /// * `entry`: lent for the call
    /// * `out_entry`: the entry's number; SHW_NONE on failure
    /// * `SHW_INVALID_ARGUMENT`: the entry is malformed; the graph is as before
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_add_entry(builder: *mut shw_builder, entry: *const shw_builder_entry, out_entry: *mut usize) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_result_type_init(r#type: *mut shw_result_type, size: usize);

    /// The inferred type of a node's result.
    ///
    /// * `out_type`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such node or result
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_get_type(builder: *const shw_builder, node: usize, result: usize, out_type: *mut shw_result_type) -> *mut shw_status;

    /// The graph so far, as FlatBuffers bytes (graph.fbs).
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph as a whole is malformed
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    #[must_use]
    pub fn shw_builder_finish(builder: *const shw_builder, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the builder; bytes that shw_builder_finish() returned stay valid. NULL is allowed.
    ///
    /// * Threads: external: one thread at a time for each builder
    /// * Since 0.2
    pub fn shw_builder_destroy(builder: *mut shw_builder);

    /// Number of operations that graphs may have.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_op_count() -> usize;

    /// Name of operation number `op`, as shw_builder_add_node() takes it; "" if there is none.
    ///
    /// * Returns a string that lives as long as the library
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_op_name(op: usize) -> *const c_char;

    /// The number of an operation, from its name.
    ///
    /// * `out_op`: SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: there is no such operation; the message suggests similar names
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_op_find(name: *const c_char, out_op: *mut usize) -> *mut shw_status;

    /// Number of parameters of an operation; 0 if there is no such operation.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_op_num_params(op: usize) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_op_param_init(param: *mut shw_op_param, size: usize);

    /// One parameter of an operation. Operands come first, in the order of shw_builder_add_node().
    ///
    /// * `out_param`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such operation or parameter
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_op_get_param(op: usize, index: usize, out_param: *mut shw_op_param) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_compile_options_init(options: *mut shw_compile_options, size: usize);

    /// Verifies a graph, rewrites it, chooses the cheapest placement of every tensor on the mesh, and
    /// lowers the graph to the program that one rank runs.
    ///
    /// * `graph`: FlatBuffer of graph.fbs, or text (.swt); lent for the call; any alignment and
    ///   content
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_plan`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph is malformed, or an option is out of range
    /// * `SHW_OUT_OF_RANGE`: a bucket's size is not between its symbol's minimum and maximum
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options
    /// * `SHW_UNIMPLEMENTED`: the graph or an option needs what the library does not have yet
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any placement was found; never
    ///   without a time limit
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory; or the search reached its limit of work before it
    ///   found a placement within memory_limit_bytes
    /// * Threads: any; calls in one context run in parallel
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_compile(context: *mut shw_context, graph: shw_bytes, options: *const shw_compile_options, out_plan: *mut *mut shw_plan) -> *mut shw_status;

    /// Finds the cheapest way from one layout of a tensor to another, without a graph. The plan has one
    /// input, "input.0", and one output, "output". shw_plan_get_step() and shw_plan_to_steps() give its
    /// steps, and executors run it.
    ///
    /// * `type`: of the whole tensor: "f32\[8192,8192\]"
    /// * `from`: layout of the input: "S(0)S(1)"
    /// * `to`: layout of the output: "S(1)S(0)"
    /// * `options`: lent for the call. Mesh and hardware are used; layouts, pins, placements and
    ///   SHW_RULES_COMPAT are refused
    /// * `out_plan`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: type or layouts are malformed, the tensor cannot have a layout,
    ///   or an option is out of range
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any; calls in one context run in parallel
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_compile_reshard(context: *mut shw_context, r#type: *const c_char, from: *const c_char, to: *const c_char, options: *const shw_compile_options, out_plan: *mut *mut shw_plan) -> *mut shw_status;

    /// Reads a plan that shw_plan_save() made.
    ///
    /// * `bytes`: lent for the call; any alignment, any content
    /// * `out_plan`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_DATA_LOSS`: the bytes are damaged
    /// * `SHW_FAILED_PRECONDITION`: they have another version of the format
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_load(context: *mut shw_context, bytes: shw_bytes, out_plan: *mut *mut shw_plan) -> *mut shw_status;

    /// The plan as bytes. Equal graphs, options and library versions give equal bytes.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_save(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Drops the caller's reference; executors keep their plan. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_destroy(plan: *mut shw_plan);

    /// Number of machines that the library has cost tables for.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_hardware_count() -> usize;

    /// Name of machine number `index`, as shw_compile_options::hardware takes it; "" if there is none.
    ///
    /// * Returns a string that lives as long as the library
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_hardware_name(index: usize) -> *const c_char;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_summary_init(summary: *mut shw_plan_summary, size: usize);

    /// Costs, proof, size and memory of the plan.
    ///
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_summary(plan: *const shw_plan, out_summary: *mut shw_plan_summary) -> *mut shw_status;

    /// Number of ranks that the plan runs on; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_ranks(plan: *const shw_plan) -> i32;

    /// Number of axes of the plan's mesh; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_mesh_axes(plan: *const shw_plan) -> usize;

    /// One axis of the mesh, the outermost has number 0, or a part of one.
    ///
    /// * `index`: below shw_plan_num_mesh_axes(), or the number of a part that a step names
    /// * `out_axis`: zeros on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such axis
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_mesh_axis(plan: *const shw_plan, index: usize, out_axis: *mut shw_mesh_axis) -> *mut shw_status;

    /// Number of ports; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_ports(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_port_init(port: *mut shw_plan_port, size: usize);

    /// One port.
    ///
    /// * `out_port`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such port
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_port(plan: *const shw_plan, index: usize, out_port: *mut shw_plan_port) -> *mut shw_status;

    /// The number of a port, from its name. Ports of different buckets can have the same name; within an
    /// entry names are unique.
    ///
    /// * `entry`: an entry that has the port as input or output. State, constants and updates of
    ///   state are found from every entry. SHW_NONE: any entry
    /// * `out_index`: SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: there is none; the message offers names like it
    /// * `SHW_FAILED_PRECONDITION`: `entry` is SHW_NONE, and several ports have this name
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_find_port(plan: *const shw_plan, entry: usize, name: *const c_char, out_index: *mut usize) -> *mut shw_status;

    /// Number of entries; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_entries(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_entry_init(entry: *mut shw_plan_entry, size: usize);

    /// One entry.
    ///
    /// * `out_entry`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_entry(plan: *const shw_plan, index: usize, out_entry: *mut shw_plan_entry) -> *mut shw_status;

    /// The number of an entry, from its name.
    ///
    /// * `out_index`: SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: there is none; the message lists those that there are
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_find_entry(plan: *const shw_plan, name: *const c_char, out_index: *mut usize) -> *mut shw_status;

    /// The position of an input of an entry in shw_plan_entry::inputs and shw_run::inputs.
    ///
    /// * `name`: of the port: "input.x"
    /// * `out_index`: SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: the entry has no such input; the message offers names like it
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_find_input(plan: *const shw_plan, entry: usize, name: *const c_char, out_index: *mut usize) -> *mut shw_status;

    /// The position of an output of an entry in shw_plan_entry::outputs and shw_run::outputs.
    ///
    /// * `name`: of the port: "output.loss"
    /// * `out_index`: SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: the entry has no such output; the message offers names like it
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_find_output(plan: *const shw_plan, entry: usize, name: *const c_char, out_index: *mut usize) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_entry_time_init(time: *mut shw_plan_entry_time, size: usize);

    /// The simulated time of an entry. Each call computes it anew.
    ///
    /// * `out_time`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_entry_time(plan: *const shw_plan, index: usize, out_time: *mut shw_plan_entry_time) -> *mut shw_status;

    /// Number of symbols of the graph that the plan was made of; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_symbols(plan: *const shw_plan) -> usize;

    /// One symbol.
    ///
    /// * `out_symbol`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such symbol
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_symbol(plan: *const shw_plan, index: usize, out_symbol: *mut shw_symbol) -> *mut shw_status;

    /// The smallest bucket of an entry of the graph into which a run of these sizes fits. An entry that
    /// depends on no symbol is its own only bucket.
    ///
    /// * `entry`: its name in the graph: "decode"; shw_plan_entry::bucket_of
    /// * `sizes`: one for each symbol that the entry depends on, in any order; lent for the call
    /// * `out_entry`: number of the bucket among the entries; SHW_NONE on failure
    /// * `SHW_NOT_FOUND`: there is no such entry
    /// * `SHW_OUT_OF_RANGE`: a size is below the symbol's minimum, or larger than the largest
    ///   bucket; the message names the symbol, its size and that bucket
    /// * `SHW_INVALID_ARGUMENT`: a size is no multiple of the symbol's divisor, is missing, is given
    ///   twice, or is of a symbol that the entry does not depend on
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_choose_bucket(plan: *const shw_plan, entry: *const c_char, sizes: *const shw_symbol_size, num_sizes: usize, out_entry: *mut usize) -> *mut shw_status;

    /// Everything above as one JSON object. Costs are in us, memory in bytes of one rank.
    ///
    /// ```text
    ///   objective, bound, proven, compute, comm, transition   of the summary
    ///   nodes, strategies, mesh, ranks, hardware, rules, overlap
    ///   collectives          by kind: `count`, `wire_bytes_per_rank`
    ///   memory_per_rank      of the program: `parameters`, `gradients`, `arena`, `live_peak`, `host`;
    ///                        `in_outputs`: scratch in the memory of outputs until they are written;
    ///                        `groups`: `group_bytes` of the summary
    ///   memory               as planned: `limit_bytes`, `peak_bytes`, `at` (a node),
    ///                        `price_us_per_gib`, `points`, `program_bytes` (what the program needs);
    ///                        the peak `by_kind` and `by_module`: `module` (numbers as *), `count` of
    ///                        such modules, `bytes`, `by_kind`
    ///   program              `us`: all steps one after another; `collectives`: those among them;
    ///                        `by_basis`: where these prices come from (`measured`, `interpolated`,
    ///                        `analytical`, `fallback`); `steps`.
    ///                        `simulated`, by entry: `us` with overlap, `exposed` collectives,
    ///                        `unavoidable` (exposed in every order of steps), `lower_bound`,
    ///                        `longest_chain`,
    ///                        `device_peak_bytes`, and of each of its `queues` the `name`, `steps`,
    ///                        `busy`, `exposed`
    ///   symbols              by name: `min`, `max`, `divisor`, `hint`; absent if there are none
    ///   entries              by name: `inputs` and `outputs` with `name`, `type`, `layout`, `present`
    ///                        and, where dims depend on symbols, `sizes`, "[1,2*cache]"; of a bucket
    ///                        `bucket_of`, an entry of the graph, and `bucket`: sizes by symbol
    ///   decisions            of each node `name`, `op`, `phase`, `module_path`, `operands`, `result`,
    ///                        `compute`, `comm`, `transition`
    /// ```
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_json(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// A table for a person: costs and proof, layouts of parameters, collectives, memory, simulated
    /// time.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_text(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// When each step would run on a rank, as Chrome trace events in JSON, which ui.perfetto.dev opens:
    /// a track for each stream, a counter of live bytes, and arrows from the step that makes a
    /// collective's operand to the step that reads its result.
    ///
    /// * `entry`: its name; NULL: all entries, one after another
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_NOT_FOUND`: there is no such entry
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_trace(plan: *const shw_plan, entry: *const c_char, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The modules that the graph was traced from as a tree, in JSON: each with its `parameters` and
    /// their layouts, and its cost and its share of the memory peak, submodules included. Numbered
    /// modules that are alike appear once, with their `count`.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_module_tree(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The same tree for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_module_tree_text(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The program of a rank for a person: its values, and a line for each step.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_program_text(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The steps of a rank's program, as JSON: `steps`, each with `entry`, `kernel`, `inputs` and
    /// `outputs` (types of the pieces), of collectives `axes`, `to_axes` (names of mesh axes), `reduce`
    /// and `wire_bytes`, and `cost_us`, `basis`, `node`; `wire_bytes` and `cost_us` of all.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_steps(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The same steps for a person: a line for each, and their sum.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_steps_text(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The placement of every node, as JSON that shw_planner_changes::placements takes: mesh (`shape`,
    /// `dim_names`), and `nodes` with `name`, `output` and `inputs`. If you delete a node from it, the
    /// planner chooses the node's placement.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_placements(plan: *const shw_plan, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Compares two plans, node by node; nodes are matched by name. The plans may have different meshes,
    /// options and hardware. Costs and memory: shw_plan_get_summary() of each.
    ///
    /// * `out_comparison`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a plan is NULL
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_compare(before: *const shw_plan, after: *const shw_plan, out_comparison: *mut *mut shw_comparison) -> *mut shw_status;

    /// Number of nodes whose layouts are the same in both; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_comparison_num_unchanged(comparison: *const shw_comparison) -> usize;

    /// Number of nodes that differ; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_comparison_num_nodes(comparison: *const shw_comparison) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_comparison_node_init(node: *mut shw_comparison_node, size: usize);

    /// One node. Nodes whose result has another layout come first. They are grouped by equal changes,
    /// the largest group first.
    ///
    /// * `out_node`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such node
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_comparison_get_node(comparison: *const shw_comparison, index: usize, out_node: *mut shw_comparison_node) -> *mut shw_status;

    /// The comparison as one JSON object: `before` and `after` (costs, memory of one rank with the
    /// planned peak by kind, collectives) with `delta`; `changes`: the nodes whose result went `from`
    /// one layout `to` another, the largest group first; `operands_only`: nodes with the same result
    /// from other operands; the number of nodes `unchanged`; and the nodes that only one plan has, by
    /// name.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_comparison_to_json(comparison: *const shw_comparison, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The comparison for a person, with every node that differs.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_comparison_to_text(comparison: *const shw_comparison, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the comparison. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_comparison_destroy(comparison: *mut shw_comparison);

    /// A device of this process. If its memory is host memory, the context's allocator provides it.
    ///
    /// * `index`: 0 for the CPU; of a CUDA device, as the driver counts
    /// * `out_device`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: there is no such kind or index; CUDA: the context's kernel_cache is
    ///   no folder
    /// * `SHW_UNAVAILABLE`: CUDA: the plug-in, the driver or one of NVIDIA's libraries is
    ///   missing or too old; the message says what to do
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_device_create(context: *mut shw_context, kind: shw_device_kind, index: i32, out_device: *mut *mut shw_device) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_device_info_init(info: *mut shw_device_info, size: usize);

    /// What a device is and can do.
    ///
    /// * `out_info`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_device_get_info(device: *const shw_device, out_info: *mut shw_device_info) -> *mut shw_status;

    /// Drops the caller's reference; buffers and executors keep their device. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_device_destroy(device: *mut shw_device);

    /// A new buffer, row-major, filled with zeros. It begins at a multiple of 256 bytes.
    ///
    /// * `dims`: `rank` sizes; lent for the call; may be NULL if rank is 0
    /// * `out_buffer`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the dtype is unknown, or the sizes are out of range
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_buffer_create(device: *mut shw_device, dtype: shw_dtype, dims: *const i64, rank: i32, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// Makes a buffer of the caller's memory: a row-major copy, or that memory itself, as `borrow` says.
    ///
    /// * `tensor`: in memory that the device can use; lent for the call, with all that it
    ///   points to. Borrowed data stays lent as long as it is used
    /// * `release`: called when borrowed memory is no longer used, but not if this call fails;
    ///   NULL: no notification; must be NULL for SHW_BORROW_COPY
    /// * `release_user`: handed to `release`
    /// * `out_buffer`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the tensor's type is out of range, or its data is NULL
    /// * `SHW_UNIMPLEMENTED`: its memory is not the CPU's
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_buffer_import(device: *mut shw_device, tensor: *const shw_tensor, borrow: shw_borrow, release: shw_release_fn, release_user: *mut c_void, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// The buffer's memory and type.
    ///
    /// * `out_tensor`: all that it points to is lent by `buffer`; zeros on failure
    /// * `SHW_INVALID_ARGUMENT`: an argument is NULL
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_buffer_get_tensor(buffer: *const shw_buffer, out_tensor: *mut shw_tensor) -> *mut shw_status;

    /// Copies the buffer to the host, row-major. Does not wait for runs.
    ///
    /// * `size`: bytes at `data`: exactly those of the tensor
    /// * `SHW_INVALID_ARGUMENT`: the size is wrong
    /// * `SHW_FAILED_PRECONDITION`: a run that writes the buffer has not ended: wait for its event
    /// * Threads: any, while no run writes the buffer
    /// * Since 0.2
    #[must_use]
    pub fn shw_buffer_read(buffer: *const shw_buffer, data: *mut c_void, size: usize) -> *mut shw_status;

    /// Copies row-major data from the host to the buffer. Does not wait for runs.
    ///
    /// * `size`: bytes at `data`: exactly those of the tensor
    /// * `SHW_INVALID_ARGUMENT`: the size is wrong
    /// * `SHW_FAILED_PRECONDITION`: a run that writes the buffer has not ended: wait for its event
    /// * Threads: external: one thread at a time for each buffer, while no run uses it
    /// * Since 0.2
    #[must_use]
    pub fn shw_buffer_write(buffer: *mut shw_buffer, data: *const c_void, size: usize) -> *mut shw_status;

    /// Drops the caller's reference; runs keep their buffers until they end. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_buffer_destroy(buffer: *mut shw_buffer);

    /// Verifies and rewrites a graph, and prices every strategy of every node on the mesh. This is what
    /// shw_plan_compile() does before it solves.
    ///
    /// * `graph`: FlatBuffer of graph.fbs, or text (.swt); lent for the call; any alignment and
    ///   content
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_planner`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph is malformed, or an option is out of range
    /// * `SHW_OUT_OF_RANGE`: a bucket's size is not between its symbol's minimum and maximum
    /// * `SHW_UNIMPLEMENTED`: the graph or an option needs what the library does not have yet
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any; calls in one context run in parallel
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_create(context: *mut shw_context, graph: shw_bytes, options: *const shw_compile_options, out_planner: *mut *mut shw_planner) -> *mut shw_status;

    /// Frees the planner; plans that it made stay valid. NULL is allowed.
    ///
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    pub fn shw_planner_destroy(planner: *mut shw_planner);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_planner_changes_init(changes: *mut shw_planner_changes, size: usize);

    /// The cheapest plan. Its bytes equal those of shw_plan_compile() with the planner's options and the
    /// changes.
    ///
    /// * `changes`: lent for the call; NULL: none
    /// * `out_plan`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a change is malformed: an impossible layout, placements of
    ///   another mesh or graph
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options and the changes
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_compile(planner: *mut shw_planner, changes: *const shw_planner_changes, out_plan: *mut *mut shw_plan) -> *mut shw_status;

    /// The cheapest placement in the export format of the reference planner (AutoParallel), for tools
    /// that read its files: `mesh`, `nodes` with the layouts and costs of their operands, `summary`.
    /// `cluster_root` is the first node that has the same position in an equal module.
    ///
    /// * `changes`: lent for the call; NULL: none
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a change is malformed
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options and the changes
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_export(planner: *mut shw_planner, changes: *const shw_planner_changes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_options_init(options: *mut shw_explanation_options, size: usize);

    /// Explains why a node has its placement: what the node and the edges at it cost, and what every
    /// other layout of its result would cost. Every alternative has a lower bound. For the alternatives
    /// with the lowest bounds, and for the layout of the options, the problem is also solved again with
    /// the layout pinned. With SHW_OVERLAP_SIMULATED, the plan is the fastest that was found. All costs,
    /// floors and bounds then use the edge prices at which it was found, and each solved plan has its
    /// simulated step.
    ///
    /// * `node`: its name after the rewrites, or its name as an input or output
    ///   ("param.\<name\>", "output")
    /// * `options`: lent for the call; NULL: defaults
    /// * `changes`: lent for the call; NULL: none
    /// * `out_explanation`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_NOT_FOUND`: there is no such node; the message offers names like it
    /// * `SHW_INVALID_ARGUMENT`: no strategy of the node has the layout, or a change is malformed
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options and the changes
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_explain(planner: *mut shw_planner, node: *const c_char, options: *const shw_explanation_options, changes: *const shw_planner_changes, out_explanation: *mut *mut shw_explanation) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_summary_init(summary: *mut shw_explanation_summary, size: usize);

    /// The node and its placement.
    ///
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_get_summary(explanation: *const shw_explanation, out_summary: *mut shw_explanation_summary) -> *mut shw_status;

    /// Number of layouts that the node's result could have; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_num_alternatives(explanation: *const shw_explanation) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_alternative_init(alternative: *mut shw_explanation_alternative, size: usize);

    /// One layout; they are in the order of their lower bounds.
    ///
    /// * `out_alternative`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such alternative
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_get_alternative(explanation: *const shw_explanation, index: usize, out_alternative: *mut shw_explanation_alternative) -> *mut shw_status;

    /// Number of strategies of the node; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_num_strategies(explanation: *const shw_explanation) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_strategy_init(strategy: *mut shw_explanation_strategy, size: usize);

    /// One strategy; they are in the order of their lower bounds.
    ///
    /// * `out_strategy`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such strategy
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_get_strategy(explanation: *const shw_explanation, index: usize, out_strategy: *mut shw_explanation_strategy) -> *mut shw_status;

    /// Number of edges at the node, those into it first; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_num_edges(explanation: *const shw_explanation) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_edge_init(edge: *mut shw_explanation_edge, size: usize);

    /// One edge.
    ///
    /// * `out_edge`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such edge
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_get_edge(explanation: *const shw_explanation, index: usize, out_edge: *mut shw_explanation_edge) -> *mut shw_status;

    /// The explanation as one JSON object: `compute`, `comm`, `transition`, `operands`, `users`,
    /// `alternatives` (`floor`: the lower bound, null: no plan has it; `forced`: the best plan that has
    /// the layout; `status`: CHOSEN, TIE, TARGET CHEAPER, CHOSEN CHEAPER or UNAVAILABLE, the reference
    /// planner's terms, "" if not known), `second_best`, `strategies`. Costs are in us.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_to_json(explanation: *const shw_explanation, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The explanation for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_explanation_to_text(explanation: *const shw_explanation, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees an explanation. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_explanation_destroy(explanation: *mut shw_explanation);

    /// Explains the cheapest plan. This is not available with SHW_OVERLAP_SIMULATED, because it is not
    /// known how far prices may change before another plan is the fastest.
    ///
    /// * `changes`: lent for the call; NULL: none
    /// * `out_explanation`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a change is malformed
    /// * `SHW_UNIMPLEMENTED`: the planner has SHW_OVERLAP_SIMULATED
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options and the changes
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_explain_plan(planner: *mut shw_planner, changes: *const shw_planner_changes, out_explanation: *mut *mut shw_plan_explanation) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_summary_init(summary: *mut shw_plan_explanation_summary, size: usize);

    /// Costs, and how far prices may change.
    ///
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_get_summary(explanation: *const shw_plan_explanation, out_summary: *mut shw_plan_explanation_summary) -> *mut shw_status;

    /// Number of plans that are better outside the range of factors; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_num_rivals(explanation: *const shw_plan_explanation) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_rival_init(rival: *mut shw_plan_explanation_rival, size: usize);

    /// One of these plans, by increasing factor.
    ///
    /// * `out_rival`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such rival
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_get_rival(explanation: *const shw_plan_explanation, index: usize, out_rival: *mut shw_plan_explanation_rival) -> *mut shw_status;

    /// Number of edges that are listed one by one: those that pay most; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_num_edges(explanation: *const shw_plan_explanation) -> usize;

    /// One edge; the most expensive has number 0.
    ///
    /// * `out_edge`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such edge
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_get_edge(explanation: *const shw_plan_explanation, index: usize, out_edge: *mut shw_explanation_edge) -> *mut shw_status;

    /// Number of groups of all edges that communicate; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_num_groups(explanation: *const shw_plan_explanation) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_group_init(group: *mut shw_plan_explanation_group, size: usize);

    /// One group; the most expensive has number 0.
    ///
    /// * `out_group`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such group
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_get_group(explanation: *const shw_plan_explanation, index: usize, out_group: *mut shw_plan_explanation_group) -> *mut shw_status;

    /// The explanation as one JSON object: `objective`, `bound`, `proven`, `compute`, `comm`,
    /// `transition`; `dearest_edges`; all edges that communicate in `edge_groups` (`module` of the
    /// consumer with numbers as \*, ops, layouts, `count`, `comm` of all); and `optimal_while`.
    /// In `optimal_while`, `communication_factor` is the range `from` … `to` of factors on all
    /// communication prices; `below` and `above` are the plans that are better outside this range.
    /// `memory_limit_bytes` is the range of limits `from` the plan's own peak up `to_at_least`; at
    /// `to_below` a cheaper plan fits (null: at no limit). `exact` false: a solve ended without proof,
    /// and the range may be smaller.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_to_json(explanation: *const shw_plan_explanation, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The explanation for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_explanation_to_text(explanation: *const shw_plan_explanation, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the explanation. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_explanation_destroy(explanation: *mut shw_plan_explanation);

    /// Converts a graph to bytes of graph.fbs, and verifies it.
    ///
    /// * `bytes`: lent for the call; any content
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph is malformed: the message names the node, or the line
    /// * `SHW_UNIMPLEMENTED`: it has operations that the library does not know: all are listed
    /// * `SHW_DATA_LOSS`: the gzipped bytes are damaged
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory, or the text exceeds
    ///   shw_context_options::max_text_bytes
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_graph_import(context: *mut shw_context, format: shw_graph_format, bytes: shw_bytes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_onnx_options_init(options: *mut shw_onnx_options, size: usize);

    /// Converts an ONNX model, opsets 13 to 21, to bytes of graph.fbs, and verifies it. Older models are
    /// read if their operators have the same meaning. Weights become parameters. Integers and single
    /// numbers become constants of the graph.
    ///
    /// * `model`: the bytes of a .onnx file; lent for the call; any content
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_graph`: receives a handle that the caller destroys; NULL on failure
    /// * `out_values`: receives a handle that the caller destroys: values of the weights in the
    ///   format safetensors, by the names of the graph's inputs
    ///   ("param.encoder.weight"); NULL on failure
    /// * `SHW_UNAVAILABLE`: libshardwise_onnx.so was not found; the message says where it was
    ///   looked for. The library's build makes it if protobuf is installed
    /// * `SHW_INVALID_ARGUMENT`: the model is malformed (the message names the node), or leaves
    ///   sizes open that the options do not give (all are listed)
    /// * `SHW_UNIMPLEMENTED`: it has operators that are not known (all are listed), or asks for
    ///   something else that the library cannot do
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_graph_import_onnx(context: *mut shw_context, model: shw_bytes, options: *const shw_onnx_options, out_graph: *mut *mut shw_blob, out_values: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_graph_summary_init(summary: *mut shw_graph_summary, size: usize);

    /// What a graph consists of.
    ///
    /// * `graph`: FlatBuffer of graph.fbs, or text (.swt); lent for the call; any content
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph is malformed, or struct_size was not set (then nothing
    ///   is written)
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_graph_get_summary(graph: shw_bytes, out_summary: *mut shw_graph_summary) -> *mut shw_status;

    /// The graph for a person: a line for each input, node and output. The text is complete:
    /// shw_graph_import() reads it back (SHW_GRAPH_FORMAT_TEXT).
    ///
    /// * `graph`: FlatBuffer of graph.fbs, or text (.swt); lent for the call; any content
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the graph is malformed
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_graph_to_text(context: *mut shw_context, graph: shw_bytes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_hardware_info_init(info: *mut shw_hardware_info, size: usize);

    /// The main figures of a machine.
    ///
    /// * `hardware`: its name; NULL: `description` is given
    /// * `description`: JSON; lent for the call; empty: `hardware` is given. With neither: "h100"
    /// * `out_info`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: the machine is unknown, its description is malformed, or
    ///   struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_hardware_get_info(hardware: *const c_char, description: shw_bytes, out_info: *mut shw_hardware_info) -> *mut shw_status;

    /// The complete description of a machine, as JSON that shw_compile_options::hardware_description
    /// takes. It can serve as the start of another description.
    ///
    /// * `hardware`: its name; NULL: `description` is given
    /// * `description`: JSON; lent for the call; empty: `hardware` is given. With neither: "h100"
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the machine is unknown, or its description is malformed
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_hardware_to_json(context: *mut shw_context, hardware: *const c_char, description: shw_bytes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_options_init(options: *mut shw_calibration_options, size: usize);

    /// Fits a machine's links to measured collectives, or measures the CPUs or the GPUs of this machine:
    /// kernels on one rank and collectives among several. Measuring takes some seconds on all CPUs or
    /// GPUs; nothing else should run meanwhile. Plans for the result are priced by the measured times.
    ///
    /// * `files`: lent for the call, with all that they point to; none with a device
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_calibration`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a file is not such output (the message names file and line), a
    ///   group does not fit the machine, two runs have the same group,
    ///   the sizes are too small to tell a bandwidth, or the device is
    ///   unknown or comes with files or hardware
    /// * `SHW_UNAVAILABLE`: the device is "cuda", and there is none, or it cannot be used
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_create(context: *mut shw_context, files: *const shw_calibration_file, num_files: usize, options: *const shw_calibration_options, out_calibration: *mut *mut shw_calibration) -> *mut shw_status;

    /// Number of runs in the files, or of collectives that were measured; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_num_collectives(calibration: *const shw_calibration) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_collective_init(collective: *mut shw_calibration_collective, size: usize);

    /// One run, in the order of the files. For a measurement of this process, `file` is empty.
    ///
    /// * `out_collective`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such run
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_get_collective(calibration: *const shw_calibration, index: usize, out_collective: *mut shw_calibration_collective) -> *mut shw_status;

    /// Number of figures of the cost model; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_num_figures(calibration: *const shw_calibration) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_figure_init(figure: *mut shw_calibration_figure, size: usize);

    /// One figure before and after.
    ///
    /// * `out_figure`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such figure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_get_figure(calibration: *const shw_calibration, index: usize, out_figure: *mut shw_calibration_figure) -> *mut shw_status;

    /// The machine that was fitted, as JSON that shw_compile_options::hardware_description takes.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_to_description(calibration: *const shw_calibration, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The fit as one JSON object: `collectives` (`file`, `line`, `collective`, `nodes`,
    /// `devices_per_node`, `sizes`; `base_error`, `model_error`, `lines_error`, each with `mean` and
    /// `max`) and `figures` (`name`, `before`, `after`, `determined`: whether the runs determine it). If
    /// a device was measured, also `kernels` (`kernel`, `dtype`, `sizes`: how many, `least_us`,
    /// `most_us`).
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_to_json(calibration: *const shw_calibration, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The fit for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_calibration_to_text(calibration: *const shw_calibration, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the calibration. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_calibration_destroy(calibration: *mut shw_calibration);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pareto_options_init(options: *mut shw_pareto_options, size: usize);

    /// The cheapest placements under a series of memory limits, from no limit to the lowest peak.
    /// Objectives strictly rise and peaks strictly fall. Work for each limit is bounded by a count, so
    /// every machine finds the same points. With SHW_OVERLAP_SIMULATED, each point is the fastest
    /// placement found under its limit. Then step_us strictly rises, program_bytes strictly falls, and
    /// bounds are bounds of the objective. The first point is never slower than a plan without a limit.
    /// It can be faster, if a limit leads to a faster placement.
    ///
    /// * `options`: lent for the call; NULL: defaults. Fewer points than num_points are found if
    ///   there are no more, or time_limit_s passes
    /// * `changes`: lent for the call; NULL: none. There must be no memory limit
    /// * `out_pareto`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: num_points is out of range, there is a memory limit, or a change
    ///   is malformed
    /// * `SHW_FAILED_PRECONDITION`: no placement satisfies the options and the changes
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_pareto(planner: *mut shw_planner, options: *const shw_pareto_options, changes: *const shw_planner_changes, out_pareto: *mut *mut shw_pareto) -> *mut shw_status;

    /// Number of points; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pareto_num_points(pareto: *const shw_pareto) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pareto_point_init(point: *mut shw_pareto_point, size: usize);

    /// One point; number 0 has the most memory and is the fastest.
    ///
    /// * `out_point`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such point
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_pareto_get_point(pareto: *const shw_pareto, index: usize, out_point: *mut shw_pareto_point) -> *mut shw_status;

    /// The points as one JSON object: `points`, and `lowest_peak` with `reached_bytes` and the proven
    /// lower bound `least_bytes`.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_pareto_to_json(pareto: *const shw_pareto, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The points for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_pareto_to_text(pareto: *const shw_pareto, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// A chart of step time against memory, as an SVG document.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_pareto_to_svg(pareto: *const shw_pareto, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the points. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pareto_destroy(pareto: *mut shw_pareto);

    /// Number of nodes whose placement is known; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_nodes(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_node_init(node: *mut shw_plan_node, size: usize);

    /// The placement of one node, in the order of the rewritten graph.
    ///
    /// * `out_node`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such node
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_node(plan: *const shw_plan, index: usize, out_node: *mut shw_plan_node) -> *mut shw_status;

    /// Number of steps; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_steps(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_step_init(step: *mut shw_plan_step, size: usize);

    /// One step, in the order of the program.
    ///
    /// * `out_step`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such step
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_step(plan: *const shw_plan, index: usize, out_step: *mut shw_plan_step) -> *mut shw_status;

    /// Number of kinds of collectives in the program; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_collectives(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_collective_init(collective: *mut shw_plan_collective, size: usize);

    /// How often one kind of collective runs, and what it sends.
    ///
    /// * `out_collective`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such kind
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_collective(plan: *const shw_plan, index: usize, out_collective: *mut shw_plan_collective) -> *mut shw_status;

    /// Number of shares of the memory peak; 0 for NULL, and where no peak is known.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_memory_shares(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_memory_share_init(share: *mut shw_plan_memory_share, size: usize);

    /// One share of the peak; the largest has number 0. They add up to memory_peak_bytes of the summary.
    ///
    /// * `out_share`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such share
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_memory_share(plan: *const shw_plan, index: usize, out_share: *mut shw_plan_memory_share) -> *mut shw_status;

    /// Number of phases of the compilation; 0 for NULL, and for a plan that was loaded.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_num_phases(plan: *const shw_plan) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_phase_init(phase: *mut shw_plan_phase, size: usize);

    /// How long one phase of the compilation took.
    ///
    /// * `out_phase`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such phase
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_phase(plan: *const shw_plan, index: usize, out_phase: *mut shw_plan_phase) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_plan_effort_init(effort: *mut shw_plan_effort, size: usize);

    /// The size of the placement problem, and the work of its solve. Zeros for a plan that was loaded.
    ///
    /// * `out_effort`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_get_effort(plan: *const shw_plan, out_effort: *mut shw_plan_effort) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_recipes_options_init(options: *mut shw_recipes_options, size: usize);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_recipes_row_init(row: *mut shw_recipes_row, size: usize);

    /// Plans the model by each recipe and compares these plans with the optimum. All plans go through
    /// the same passes and the same simulator. No recipe has a shorter simulated step than the optimum,
    /// unless the planner was created with SHW_OVERLAP_NONE, _PREFETCH or _BOUNDED. A recipe is a set of
    /// constraints on layouts, which is derived from the graph. The planner chooses what the recipe
    /// leaves open, at the lowest price. If the model or the mesh does not permit a recipe, its row says
    /// why.
    ///
    /// * `options`: lent for the call; NULL: all recipes, no foreign plan
    /// * `changes`: lent for the call; NULL: none. Layouts, pins and the parameter budget bind
    ///   the row of kind SHW_RECIPES_OPTIONS alone; the memory limit binds all
    /// * `out_recipes`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: an unknown recipe, a malformed foreign plan or change
    /// * `SHW_FAILED_PRECONDITION`: no placement is within the memory limit
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_compare(planner: *mut shw_planner, options: *const shw_recipes_options, changes: *const shw_planner_changes, out_recipes: *mut *mut shw_recipes) -> *mut shw_status;

    /// Number of rows; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_recipes_num_rows(recipes: *const shw_recipes) -> usize;

    /// One row; number 0 is the optimum.
    ///
    /// * `out_row`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such row
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_recipes_get_row(recipes: *const shw_recipes, index: usize, out_row: *mut shw_recipes_row) -> *mut shw_status;

    /// The rows as one JSON object.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_recipes_to_json(recipes: *const shw_recipes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The rows for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_recipes_to_text(recipes: *const shw_recipes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// A chart, a bar for each plan, as an SVG document.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_recipes_to_svg(recipes: *const shw_recipes, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the comparison. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_recipes_destroy(recipes: *mut shw_recipes);

    /// A report of a plan: one HTML file that needs no other file and no network. It shows costs and
    /// proof, the layouts of all tensors on the mesh, modules, communication, memory over time, a
    /// timeline of a step, and the nodes. A plan does not contain the reasons for its layouts:
    /// shw_planner_to_report() adds them.
    ///
    /// * `other`: to compare with; NULL: none
    /// * `pareto`: to show; NULL: none
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_to_report(plan: *const shw_plan, other: *const shw_plan, pareto: *const shw_pareto, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The same report with the reasons. For each node it shows the cost of bringing its operands into
    /// their layouts. For each other layout of its result it shows a lower bound on the cost of a plan
    /// with that layout. For one parameter of each kind it shows the exact cost of the cheapest such
    /// plan, unless solving takes long or there is a memory limit.
    ///
    /// * `changes`: those with which the planner made the plan; lent for the call; NULL: none
    /// * `plan`: of this planner
    /// * `other`: to compare with; NULL: none
    /// * `pareto`: to show; NULL: none
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a change is malformed
    /// * `SHW_FAILED_PRECONDITION`: the planner's answer is not this plan, or there is none
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any answer was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each planner
    /// * Since 0.2
    #[must_use]
    pub fn shw_planner_to_report(planner: *mut shw_planner, changes: *const shw_planner_changes, plan: *const shw_plan, other: *const shw_plan, pareto: *const shw_pareto, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_options_init(options: *mut shw_world_options, size: usize);

    /// A world whose ranks are all in this process, on the CPU: threads that exchange data through
    /// memory. Results do not depend on the number of cores.
    ///
    /// * `num_ranks`: at least 1
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_world`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: num_ranks is less than 1, or an option is out of range
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_world_create_virtual(context: *mut shw_context, num_ranks: i32, options: *const shw_world_options, out_world: *mut *mut shw_world) -> *mut shw_status;

    /// A new id, for shw_world_create_from_id().
    ///
    /// * `out_id`: zeros on failure
    /// * `SHW_INVALID_ARGUMENT`: an argument is NULL
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_world_make_id(context: *mut shw_context, out_id: *mut shw_world_id) -> *mut shw_status;

    /// One part of a virtual world, with some of its ranks. Callers that share no handle, such as
    /// threads, agree on an id, and each creates the world with its own ranks. No caller waits for
    /// another one here. If a rank never joins, the first run ends with a time-out.
    ///
    /// * `id`: of shw_world_make_id() in the same context; lent for the call
    /// * `num_ranks`: of the whole world, the same in every part
    /// * `local_ranks`: of this part; distinct, and in no other part; lent for the call
    /// * `options`: lent for the call; NULL: defaults. Those of the first part count
    /// * `out_world`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the ranks or options are out of range
    /// * `SHW_OUT_OF_RANGE`: there is no such rank
    /// * `SHW_ALREADY_EXISTS`: another part has one of the ranks
    /// * `SHW_FAILED_PRECONDITION`: the id is of another context or process, or another part has
    ///   another num_ranks
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_world_create_from_id(context: *mut shw_context, id: *const shw_world_id, num_ranks: i32, local_ranks: *const i32, num_local_ranks: usize, options: *const shw_world_options, out_world: *mut *mut shw_world) -> *mut shw_status;

    /// A world of the processes of MPI_COMM_WORLD, one rank each, on the CPU. Collectives give the same
    /// bits as in a virtual world. Every process creates it. Its communicator is private.
    ///
    /// If the process has not initialised MPI, this call does. Destroying the world then finalises MPI,
    /// provided that all ranks destroy theirs within the time-out and the world was not aborted. A
    /// process that initialises MPI itself must ask for MPI_THREAD_MULTIPLE. MPI can be initialised only
    /// once in a process, so a process that creates several such worlds one after another must
    /// initialise MPI itself. Before this call initialises OpenMPI, it sets
    /// OMPI_MCA_btl_vader_single_copy_mechanism to "none" in the environment, unless it is set. Without
    /// that, OpenMPI 4 ends a rank that reads the memory of a dying rank.
    ///
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_world`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_UNAVAILABLE`: there is no MPI on this machine, or it does not start
    /// * `SHW_DEADLINE_EXCEEDED`: not every process of the job created its world in time
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_world_create_mpi(context: *mut shw_context, options: *const shw_world_options, out_world: *mut *mut shw_world) -> *mut shw_status;

    /// Number of ranks, in this process or not; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_num_ranks(world: *const shw_world) -> i32;

    /// Number of local ranks; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_num_local_ranks(world: *const shw_world) -> usize;

    /// Local rank number `index`, in ascending order; -1 if there is none.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_local_rank(world: *const shw_world, index: usize) -> i32;

    /// NULL while the world works; otherwise the reason why all its runs fail. Does not wait.
    ///
    /// * `SHW_CANCELLED`: shw_world_abort() was called
    /// * `SHW_ABORTED`: another process aborted the world
    /// * `SHW_INVALID_ARGUMENT`: the world is NULL
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_world_status(world: *const shw_world) -> *mut shw_status;

    /// Stops all runs, also queued ones, on all ranks of the world, in all processes, and returns at
    /// once. The world cannot be used again: its executors can then only be destroyed. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_abort(world: *mut shw_world);

    /// Drops the caller's reference; executors keep their world. A world of several processes waits here
    /// for the others, up to the time-out, unless it was aborted. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_world_destroy(world: *mut shw_world);

    /// Number of members; 0 for NULL.
    ///
    /// * Threads: any, while the body runs
    /// * Since 0.2
    pub fn shw_group_size(group: *const shw_group) -> i32;

    /// This rank's number among the members; 0 for NULL. Members are numbered along the mesh axes of the
    /// group, the last axis fastest.
    ///
    /// * Threads: any, while the body runs
    /// * Since 0.2
    pub fn shw_group_member(group: *const shw_group) -> i32;

    /// All members receive what each sends.
    ///
    /// * `send`: `count` elements
    /// * `receive`: `count` elements of each member
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, a count is negative, or the type is unknown
    /// * `SHW_FAILED_PRECONDITION`: another member called something else
    /// * `SHW_ABORTED`: another rank failed, was aborted, or is gone
    /// * `SHW_DEADLINE_EXCEEDED`: another member did not come in time
    /// * Threads: external: one thread at a time for each group, while the body runs
    /// * Since 0.2
    #[must_use]
    pub fn shw_group_all_gather(group: *mut shw_group, send: *const c_void, receive: *mut c_void, count: i64, dtype: shw_dtype) -> *mut shw_status;

    /// Each member sends a block to each, and receives one from each.
    ///
    /// * `send`: `count` elements for each member
    /// * `receive`: `count` elements of each member
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, a count is negative, or the type is unknown
    /// * `SHW_FAILED_PRECONDITION`: another member called something else
    /// * `SHW_ABORTED`: another rank failed, was aborted, or is gone
    /// * `SHW_DEADLINE_EXCEEDED`: another member did not come in time
    /// * Threads: external: one thread at a time for each group, while the body runs
    /// * Since 0.2
    #[must_use]
    pub fn shw_group_all_to_all(group: *mut shw_group, send: *const c_void, receive: *mut c_void, count: i64, dtype: shw_dtype) -> *mut shw_status;

    /// All-to-all with blocks of different sizes, which may be 0. Each member must know how much it
    /// receives, for instance from a shw_group_all_to_all() of the counts.
    ///
    /// * `send`: blocks of send_counts\[m\] elements for member m, one after another
    /// * `send_counts`: as many as members
    /// * `receive`: blocks of receive_counts\[m\] elements from member m, one after another
    /// * `receive_counts`: as many as members; for this member itself the number in send_counts
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, a count is negative, or the type is unknown
    /// * `SHW_FAILED_PRECONDITION`: another member called something else, or two members disagree
    ///   on how much one sends to the other
    /// * `SHW_ABORTED`: another rank failed, was aborted, or is gone
    /// * `SHW_DEADLINE_EXCEEDED`: another member did not come in time
    /// * Threads: external: one thread at a time for each group, while the body runs
    /// * Since 0.2
    #[must_use]
    pub fn shw_group_all_to_all_v(group: *mut shw_group, send: *const c_void, send_counts: *const i64, receive: *mut c_void, receive_counts: *const i64, dtype: shw_dtype) -> *mut shw_status;

    /// Each member receives its block, reduced over what all members send for it.
    ///
    /// * `send`: `count` elements for each member
    /// * `receive`: `count` elements
    /// * `reduction`: "sum", "avg", "max", "min", "product"; NULL: "sum"
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, a count is negative, or the type or the
    ///   reduction is unknown, or they do not go together
    /// * `SHW_FAILED_PRECONDITION`: another member called something else
    /// * `SHW_ABORTED`: another rank failed, was aborted, or is gone
    /// * `SHW_DEADLINE_EXCEEDED`: another member did not come in time
    /// * Threads: external: one thread at a time for each group, while the body runs
    /// * Since 0.2
    #[must_use]
    pub fn shw_group_reduce_scatter(group: *mut shw_group, send: *const c_void, receive: *mut c_void, count: i64, dtype: shw_dtype, reduction: *const c_char) -> *mut shw_status;

    /// All members receive the reduction of what each sends: the same bits on every member.
    ///
    /// * `send`: `count` elements
    /// * `receive`: `count` elements; may be `send`
    /// * `reduction`: "sum", "avg", "max", "min", "product"; NULL: "sum"
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, a count is negative, or the type or the
    ///   reduction is unknown, or they do not go together
    /// * `SHW_FAILED_PRECONDITION`: another member called something else
    /// * `SHW_ABORTED`: another rank failed, was aborted, or is gone
    /// * `SHW_DEADLINE_EXCEEDED`: another member did not come in time
    /// * Threads: external: one thread at a time for each group, while the body runs
    /// * Since 0.2
    #[must_use]
    pub fn shw_group_all_reduce(group: *mut shw_group, send: *const c_void, receive: *mut c_void, count: i64, dtype: shw_dtype, reduction: *const c_char) -> *mut shw_status;

    /// Cuts one rank's piece of a port out of the whole tensor.
    ///
    /// * `port`: its number: shw_plan_find_port(), or shw_plan_entry::inputs
    /// * `whole`: in host memory, with the port's dims and dtype; lent for the call
    /// * `device`: for the memory of the piece; NULL: the CPU's
    /// * `out_buffer`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the tensor does not have the port's type
    /// * `SHW_OUT_OF_RANGE`: there is no such port or rank
    /// * `SHW_FAILED_PRECONDITION`: the port is not present
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_shard(plan: *const shw_plan, port: usize, rank: i32, whole: *const shw_tensor, device: *mut shw_device, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// Writes one rank's piece of a port into an existing buffer, such as one of
    /// shw_executor_get_state(). Does not wait for runs.
    ///
    /// * `port`: its number: shw_plan_find_port(), or shw_plan_entry::inputs
    /// * `whole`: in host memory, with the port's dims and dtype; lent for the call
    /// * `buffer`: a piece of the port
    /// * `SHW_INVALID_ARGUMENT`: the tensor or the buffer does not have the port's type
    /// * `SHW_OUT_OF_RANGE`: there is no such port or rank
    /// * `SHW_FAILED_PRECONDITION`: the port is not present, or a run that writes the buffer has not
    ///   ended
    /// * Threads: external: one thread at a time for each buffer, while no run uses it
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_shard_into(plan: *const shw_plan, port: usize, rank: i32, whole: *const shw_tensor, buffer: *mut shw_buffer) -> *mut shw_status;

    /// Puts the whole tensor of a port together: outputs of runs, or state. Does not wait for runs.
    ///
    /// * `port`: its number: shw_plan_find_port(), or shw_plan_entry::outputs
    /// * `pieces`: one buffer for each rank, in the order of ranks; lent for the call
    /// * `num_pieces`: number of ranks
    /// * `out_buffer`: receives a handle that the caller destroys, row-major, in the CPU's memory;
    ///   NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a piece is missing, does not have the port's type, or is known
    ///   to be another rank's
    /// * `SHW_FAILED_PRECONDITION`: the port is not present, or a run that writes a piece has not
    ///   ended: wait for its event
    /// * `SHW_OUT_OF_RANGE`: there is no such port
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any, while no run writes the pieces
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_gather(plan: *const shw_plan, port: usize, pieces: *const *mut shw_buffer, num_pieces: usize, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_executor_options_init(options: *mut shw_executor_options, size: usize);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_run_init(run: *mut shw_run, size: usize);

    /// Prepares one rank to run a plan: finds kernels, allocates memory, connects the rank to the
    /// others. State is filled with zeros.
    ///
    /// Destroy executors before the process ends by exit() or by returning from main(). Their ranks are
    /// threads, which may be in the middle of a run while exit() takes down the libraries that they use.
    /// To leave at once after an error, call _Exit().
    ///
    /// The n-th executor that a rank creates in a world communicates with the n-th executor of each
    /// other rank. They must run the same program: the checksums and hashes of the plans and the
    /// versions of the libraries are compared. No local rank waits for another local rank here, so one
    /// thread may create the executors of all local ranks in a loop. In a world of several processes,
    /// the call waits until the other processes create theirs, up to the time-out.
    ///
    /// * `world`: with as many ranks as the plan
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_executor`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_FAILED_PRECONDITION`: the plan is for another number of ranks, or another rank has an
    ///   executor of another program in this place
    /// * `SHW_OUT_OF_RANGE`: there is no such local rank
    /// * `SHW_DEADLINE_EXCEEDED`: another process did not create its executor in time
    /// * `SHW_ABORTED`: the world was aborted by another process
    /// * `SHW_CANCELLED`: the world was aborted by this process
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range
    /// * `SHW_UNIMPLEMENTED`: a step has no kernel, a manual region has no body, or the device
    ///   knows no native streams or captures no graphs
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any; for each rank of a world, one thread at a time
    /// * Since 0.2
    #[must_use]
    pub fn shw_executor_create(plan: *const shw_plan, world: *mut shw_world, rank: i32, options: *const shw_executor_options, out_executor: *mut *mut shw_executor) -> *mut shw_status;

    /// Puts one run of an entry on the executor's streams. Returns at once, unless max_in_flight runs
    /// are unfinished. Every rank must enqueue the same entries in the same order.
    ///
    /// * `run`: lent for the call. The library keeps references to the buffers until the run has
    ///   ended
    /// * `out_done`: receives an event that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a buffer is missing, does not have its port's type, or is known
    ///   to hold another rank's piece (shw_plan_shard(), or the output of
    ///   a run); or the session is of another executor
    /// * `SHW_OUT_OF_RANGE`: there is no such entry
    /// * `SHW_FAILED_PRECONDITION`: an entry that must run before this one has not run in the
    ///   session
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each executor
    /// * Since 0.2
    #[must_use]
    pub fn shw_executor_enqueue(executor: *mut shw_executor, run: *const shw_run, out_done: *mut *mut shw_event) -> *mut shw_status;

    /// The memory of a port that the executor holds (SHW_STORAGE_STATE), to read and write between runs.
    ///
    /// * `port`: its number: shw_plan_find_port()
    /// * `out_buffer`: receives a handle that the caller destroys, of the executor's memory, not a
    ///   copy; NULL on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such port
    /// * `SHW_INVALID_ARGUMENT`: the port is not state
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_executor_get_state(executor: *mut shw_executor, port: usize, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// Aborts the runs that are under way or queued, on this rank and on those that communicate with it.
    /// Their events end with SHW_CANCELLED or SHW_ABORTED. This also ends a collective that waits for a
    /// rank that is gone. NULL is allowed.
    ///
    /// * Threads: any, also while another thread is inside shw_executor_enqueue()
    /// * Since 0.2
    pub fn shw_executor_abort(executor: *mut shw_executor);

    /// Waits until all runs have ended, then clears the error. After a failure or an abort every rank
    /// must call it, equally often, before any of them runs again. NULL is allowed.
    ///
    /// * Threads: external: one thread at a time for each executor
    /// * Since 0.2
    pub fn shw_executor_reset(executor: *mut shw_executor);

    /// Aborts unfinished runs, waits for their end, and frees the executor. NULL is allowed.
    ///
    /// * Threads: external: no other call on this executor may run
    /// * Since 0.2
    pub fn shw_executor_destroy(executor: *mut shw_executor);

    /// Creates an additional session. An executor has one of its own, for runs that name none.
    ///
    /// * `out_session`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each executor
    /// * Since 0.2
    #[must_use]
    pub fn shw_session_create(executor: *mut shw_executor, out_session: *mut *mut shw_session) -> *mut shw_status;

    /// Drops the caller's reference; runs keep their session until they end. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_session_destroy(session: *mut shw_session);

    /// Waits until the run has ended, and returns its result. After shw_event_query() has returned 1,
    /// this call returns the result whatever the time-out is.
    ///
    /// * `timeout_ns`: negative: no limit
    /// * `SHW_DEADLINE_EXCEEDED`: it has not ended yet, or it ended because of its time limit
    /// * `SHW_CANCELLED`: shw_executor_abort() stopped the run
    /// * `SHW_ABORTED`: a rank that the run communicates with failed or was aborted
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_event_wait(event: *const shw_event, timeout_ns: i64) -> *mut shw_status;

    /// 1 if the run has ended, with success or not, and for NULL; otherwise 0. Does not wait or
    /// allocate.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_event_query(event: *const shw_event) -> i32;

    /// Registers a callback for the end of the run; if it has ended, `done` is called at once. `done` is
    /// called even if the event is destroyed earlier.
    ///
    /// * `user`: handed to `done`
    /// * `SHW_INVALID_ARGUMENT`: `event` or `done` is NULL
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory; `done` is not called
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_event_notify(event: *const shw_event, done: shw_done_fn, user: *mut c_void) -> *mut shw_status;

    /// Frees the event, not the run. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_event_destroy(event: *mut shw_event);

    /// Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_bench_options_init(options: *mut shw_bench_options, size: usize);

    /// Times an entry on virtual ranks in this process, on made-up inputs. The result has the time of a
    /// whole run (median and quartiles), and for each rank and kernel: its time, the time that the plan
    /// predicts for the plan's hardware (`planned_seconds`), its share, FLOP/s and bytes/s. Matrix
    /// products are timed on their own as well. `over_floor` is the time of a run divided by the time of
    /// its matrix products at the best measured rate. If the CPU multiplies f32 on a matrix unit,
    /// `cpu_over_vector_floor` is the CPU time of a run divided by that of its products with vector
    /// instructions alone, as other libraries multiply.
    ///
    /// * `options`: NULL: defaults
    /// * `out_blob`: receives a handle that the caller destroys: JSON, or text; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range, or there are fewer devices than ranks
    /// * `SHW_NOT_FOUND`: there is no such entry
    /// * `SHW_FAILED_PRECONDITION`: another entry must run before this one
    /// * `SHW_UNIMPLEMENTED`: a step has no kernel, or a manual region has no body
    /// * `SHW_UNAVAILABLE`: this machine, or this build, has no device of this kind
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_plan_bench(plan: *const shw_plan, options: *const shw_bench_options, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_collective_bench_options_init(options: *mut shw_collective_bench_options, size: usize);

    /// Times each collective between ranks in this process, by size. Sizes and bandwidths are those of
    /// nccl-tests. Each element of the results is compared with its correct value.
    /// shw_calibration_create() reads the text.
    ///
    /// * `options`: NULL: defaults
    /// * `out_blob`: receives a handle that the caller destroys: JSON, or text; `wrong` is the number
    ///   of elements that are not correct. NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range, or there are fewer devices than ranks
    /// * `SHW_FAILED_PRECONDITION`: the device computes nothing
    /// * `SHW_UNAVAILABLE`: this machine, or this build, has no device of this kind
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_bench_collectives(context: *mut shw_context, options: *const shw_collective_bench_options, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Prepares all ranks to run a plan. State is filled with zeros. Destroy the runner before the
    /// process ends, as shw_executor_create() says.
    ///
    /// * `world`: a world whose ranks are all in this process; lent for the call. NULL: a new
    ///   world of virtual ranks
    /// * `options`: of every rank's executor; lent for the call. NULL: defaults
    /// * `out_runner`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_FAILED_PRECONDITION`: the plan is for another number of ranks, or a rank of the world
    ///   belongs to another process
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range
    /// * `SHW_UNIMPLEMENTED`: a step has no kernel, or a manual region has no body
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_runner_create(plan: *const shw_plan, world: *mut shw_world, options: *const shw_executor_options, out_runner: *mut *mut shw_runner) -> *mut shw_status;

    /// Writes a tensor that the executors keep (SHW_STORAGE_STATE).
    ///
    /// * `name`: of the port: "param.w"
    /// * `whole`: in host memory, with the port's dims and dtype; lent for the call
    /// * `SHW_NOT_FOUND`: there is no such port; the message offers names like it
    /// * `SHW_INVALID_ARGUMENT`: the port is not state, or the tensor does not have its type
    /// * `SHW_FAILED_PRECONDITION`: a run has not ended
    /// * Threads: external: one thread at a time for each runner
    /// * Since 0.2
    #[must_use]
    pub fn shw_runner_set_state(runner: *mut shw_runner, name: *const c_char, whole: *const shw_tensor) -> *mut shw_status;

    /// Returns a tensor that the executors keep, put together from their pieces.
    ///
    /// * `name`: of the port: "param.w"
    /// * `out_buffer`: receives a handle that the caller destroys, row-major, in the CPU's memory: a
    ///   copy; NULL on failure
    /// * `SHW_NOT_FOUND`: there is no such port; the message offers names like it
    /// * `SHW_INVALID_ARGUMENT`: the port is not state
    /// * `SHW_FAILED_PRECONDITION`: a run has not ended
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each runner
    /// * Since 0.2
    #[must_use]
    pub fn shw_runner_gather_state(runner: *mut shw_runner, name: *const c_char, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// One run of an entry on all ranks, from start to end. After a failure the runner can be used
    /// again.
    ///
    /// * `entry`: its name; NULL: the first. For an entry with buckets, the name of a bucket:
    ///   shw_plan_choose_bucket()
    /// * `inputs`: all inputs of the entry that are present, in any order; lent for the call
    /// * `outputs`: those that are wanted, row-major: the call writes the elements at `data`. After a
    ///   failure their values are unspecified
    /// * `SHW_NOT_FOUND`: there is no such entry, input or output; the message offers
    ///   names like it
    /// * `SHW_INVALID_ARGUMENT`: an input is missing or given twice, or a tensor does not have
    ///   its port's type
    /// * `SHW_FAILED_PRECONDITION`: an output is not present, or an entry that must run before this
    ///   one has not run
    /// * `SHW_DEADLINE_EXCEEDED`: the run exceeded the time limit of the options
    /// * `SHW_CANCELLED`: shw_runner_abort() stopped the run
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each runner
    /// * Since 0.2
    #[must_use]
    pub fn shw_runner_run(runner: *mut shw_runner, entry: *const c_char, inputs: *const shw_named_tensor, num_inputs: usize, outputs: *const shw_named_tensor, num_outputs: usize) -> *mut shw_status;

    /// Starts a run of an entry on all ranks. Returns without waiting for its end. If max_in_flight runs
    /// are unfinished, it first waits for one of them. Runs take place in the order in which they are
    /// started. If a run fails, the runs started after it fail too. The next start then waits for all of
    /// them, and the runner can be used again.
    ///
    /// * `entry`: its name; NULL: the first
    /// * `inputs`: all inputs of the entry that are present, in any order; copied
    /// * `out_pending`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_NOT_FOUND`: there is no such entry or input; the message offers names like
    ///   it
    /// * `SHW_INVALID_ARGUMENT`: an input is missing or given twice, or does not have its port's
    ///   type
    /// * `SHW_FAILED_PRECONDITION`: an entry that must run before this one has not run
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: external: one thread at a time for each runner
    /// * Since 0.2
    #[must_use]
    pub fn shw_runner_start(runner: *mut shw_runner, entry: *const c_char, inputs: *const shw_named_tensor, num_inputs: usize, out_pending: *mut *mut shw_pending) -> *mut shw_status;

    /// Stops all runs: they end with SHW_CANCELLED, and the runner can be used again. NULL is allowed.
    ///
    /// * Threads: any, also while another thread is inside shw_runner_run()
    /// * Since 0.2
    pub fn shw_runner_abort(runner: *mut shw_runner);

    /// Stops unfinished runs, waits for their end, and frees the ranks. Pending runs keep their outputs.
    /// NULL is allowed.
    ///
    /// * Threads: external: no other call on this runner may run
    /// * Since 0.2
    pub fn shw_runner_destroy(runner: *mut shw_runner);

    /// Waits until the run has ended on all ranks, and returns its result. If several ranks failed,
    /// this is the error that names the cause.
    ///
    /// * `timeout_ns`: negative: no limit
    /// * `SHW_DEADLINE_EXCEEDED`: it has not ended yet (shw_pending_query() tells), or it ended
    ///   because of its time limit
    /// * `SHW_CANCELLED`: shw_runner_abort() stopped the run
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_pending_wait(pending: *const shw_pending, timeout_ns: i64) -> *mut shw_status;

    /// 1 if the run has ended, with success or not, and for NULL; otherwise 0. Does not wait.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pending_query(pending: *const shw_pending) -> i32;

    /// Registers a callback for the end of the run on all ranks; if it has ended, `done` is called at
    /// once. `done` gets the code of what shw_pending_wait() returns. It is called even if the handle is
    /// destroyed earlier.
    ///
    /// * `user`: handed to `done`
    /// * `SHW_INVALID_ARGUMENT`: `pending` or `done` is NULL
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory; `done` is not called
    /// * Threads: any; `done` is called once, as shw_done_fn says
    /// * Since 0.2
    #[must_use]
    pub fn shw_pending_notify(pending: *const shw_pending, done: shw_done_fn, user: *mut c_void) -> *mut shw_status;

    /// Waits for the run, and returns an output, put together from the ranks' pieces.
    ///
    /// * `output`: name of the port: "output.y"
    /// * `out_buffer`: receives a handle that the caller destroys, row-major, in the CPU's memory;
    ///   NULL on failure
    /// * `SHW_NOT_FOUND`: the entry has no such output; the message offers names like it
    /// * `SHW_FAILED_PRECONDITION`: the output is not present
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any; returns the errors of shw_pending_wait(), too
    /// * Since 0.2
    #[must_use]
    pub fn shw_pending_gather(pending: *const shw_pending, output: *const c_char, out_buffer: *mut *mut shw_buffer) -> *mut shw_status;

    /// Frees the handle, not the run. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_pending_destroy(pending: *mut shw_pending);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_search_options_init(options: *mut shw_search_options, size: usize);

    /// Plans a graph on every mesh that a number of devices can form.
    ///
    /// * `graph`: lent for the call, as for shw_plan_compile()
    /// * `options`: lent for the call; NULL: defaults. It must have no mesh axes. A layout for
    ///   fewer axes than a mesh has replicates on the others. `progress` is called from
    ///   one thread at a time, once for each plan
    /// * `search`: lent for the call; num_devices must be set
    /// * `out_search`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: an option is out of range
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any; calls in one context run in parallel
    /// * Since 0.2
    #[must_use]
    pub fn shw_search_create(context: *mut shw_context, graph: shw_bytes, options: *const shw_compile_options, search: *const shw_search_options, out_search: *mut *mut shw_search) -> *mut shw_status;

    /// Number of candidates; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_search_num_candidates(search: *const shw_search) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_search_candidate_init(candidate: *mut shw_search_candidate, size: usize);

    /// One candidate: those with plans first, the best has number 0; then those given up; then those
    /// without a plan.
    ///
    /// * `out_candidate`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such candidate
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_search_get_candidate(search: *const shw_search, index: usize, out_candidate: *mut shw_search_candidate) -> *mut shw_status;

    /// The candidates as one JSON object, in the same order: {"meshes": \[{"mesh", "input_layout",
    /// "batch", "objective", "bound", "proven", "compute", "comm", "program", "step" (us),
    /// "memory_peak_bytes", "seconds"}, …\]}; those given up have "given_up" and "bound", those without
    /// a plan "why_not".
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_search_to_json(search: *const shw_search, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The candidates for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_search_to_text(search: *const shw_search, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the candidates. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_search_destroy(search: *mut shw_search);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_options_init(options: *mut shw_solution_options, size: usize);

    /// Solves a problem exactly.
    ///
    /// * `problem`: as options.format says; lent for the call; any content
    /// * `options`: lent for the call; NULL: defaults
    /// * `out_solution`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: the problem is malformed: the message gives the path in the
    ///   JSON; or an option is out of range
    /// * `SHW_FAILED_PRECONDITION`: no choice has finite cost within the budgets
    /// * `SHW_DATA_LOSS`: the gzipped bytes are damaged
    /// * `SHW_CANCELLED`: `cancel` was raised, or `progress` returned non-zero
    /// * `SHW_DEADLINE_EXCEEDED`: time_limit_s passed before any solution was found
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory; the text exceeds
    ///   shw_context_options::max_text_bytes; or the search reached its
    ///   limit of work before it found a solution
    /// * Threads: any; calls in one context run in parallel
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_create(context: *mut shw_context, problem: shw_bytes, options: *const shw_solution_options, out_solution: *mut *mut shw_solution) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_summary_init(summary: *mut shw_solution_summary, size: usize);

    /// Cost, proof and effort.
    ///
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_get_summary(solution: *const shw_solution, out_summary: *mut shw_solution_summary) -> *mut shw_status;

    /// Number of nodes of the problem; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_num_nodes(solution: *const shw_solution) -> usize;

    /// The strategy that was chosen for a node, in the order of the problem.
    ///
    /// * Returns its number; SHW_NONE: there is no such node, or it is an output, which has none
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_strategy(solution: *const shw_solution, node: usize) -> usize;

    /// Number of budgets of the problem; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_num_budgets(solution: *const shw_solution) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_budget_init(budget: *mut shw_solution_budget, size: usize);

    /// One budget, and how much of it the solution uses.
    ///
    /// * `out_budget`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such budget
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_get_budget(solution: *const shw_solution, index: usize, out_budget: *mut shw_solution_budget) -> *mut shw_status;

    /// Number of points at which a budget has a price; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_num_prices(solution: *const shw_solution) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_price_init(price: *mut shw_solution_price, size: usize);

    /// One price. All prices together are the certificate of the bound. To check it, drop the budgets
    /// and charge each strategy these prices for what it uses.
    ///
    /// * `out_price`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such price
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_get_price(solution: *const shw_solution, index: usize, out_price: *mut shw_solution_price) -> *mut shw_status;

    /// The solution as one JSON object: `objective`, `bound`, `proven`; with budgets `peak` (of the
    /// first) and `prices` (budget, point, price); `seconds`; and `chosen`, one strategy for each node,
    /// null for outputs.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_to_json(solution: *const shw_solution, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Cost, proof and effort for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_solution_to_text(solution: *const shw_solution, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the solution. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_solution_destroy(solution: *mut shw_solution);

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_verification_options_init(options: *mut shw_verification_options, size: usize);

    /// Judges the results of one run of an entry. A wrong result is not an error of this call: see
    /// num_wrong of the summary.
    ///
    /// * `plan`: the plan that was run; it must contain its graph
    /// * `options`: lent for the call
    /// * `out_verification`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_INVALID_ARGUMENT`: a tensor is missing or does not have its port's type
    /// * `SHW_OUT_OF_RANGE`: there is no such entry or port
    /// * `SHW_FAILED_PRECONDITION`: the plan was made with SHW_COMPILE_NO_GRAPH
    /// * `SHW_UNIMPLEMENTED`: the entry runs after another one, or an operation has no form in
    ///   f64
    /// * `SHW_CANCELLED`: `cancel` was raised
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_verification_create(plan: *const shw_plan, options: *const shw_verification_options, out_verification: *mut *mut shw_verification) -> *mut shw_status;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_verification_summary_init(summary: *mut shw_verification_summary, size: usize);

    /// How many results are wrong.
    ///
    /// * `out_summary`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_verification_get_summary(verification: *const shw_verification, out_summary: *mut shw_verification_summary) -> *mut shw_status;

    /// Number of results that were judged: the outputs that are present, then the state; 0 for NULL.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_verification_num_tensors(verification: *const shw_verification) -> usize;

    /// Does what the INIT macro does, for languages that cannot use it and for structs within structs.
    ///
    /// * `size`: of the struct as the caller knows it
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_verification_tensor_init(tensor: *mut shw_verification_tensor, size: usize);

    /// One result, in the order of the outputs, then of the state.
    ///
    /// * `out_tensor`: its struct_size is read; all other fields are written, 0 on failure
    /// * `SHW_OUT_OF_RANGE`: there is no such tensor
    /// * `SHW_INVALID_ARGUMENT`: struct_size was not set (then nothing is written)
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_verification_get_tensor(verification: *const shw_verification, index: usize, out_tensor: *mut shw_verification_tensor) -> *mut shw_status;

    /// The verification as one JSON object: `samples`, `wrong`, `expected_wrong`, `worst`,
    /// `worst_expected` (names), and `tensors` with `name`, `type`, `scale`, `unsharded_error`, `noise`,
    /// `plan_error`, `undecided_elements`, `sharded` and `expected` (each `verdict`, `error`, `limit`,
    /// `gain`, `gain_limit`, `different_elements`).
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_verification_to_json(verification: *const shw_verification, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// The verification for a person.
    ///
    /// * `out_blob`: receives a handle that the caller destroys; NULL on failure
    /// * `SHW_RESOURCE_EXHAUSTED`: out of memory
    /// * Threads: any
    /// * Since 0.2
    #[must_use]
    pub fn shw_verification_to_text(verification: *const shw_verification, out_blob: *mut *mut shw_blob) -> *mut shw_status;

    /// Frees the verification. NULL is allowed.
    ///
    /// * Threads: any
    /// * Since 0.2
    pub fn shw_verification_destroy(verification: *mut shw_verification);
}
