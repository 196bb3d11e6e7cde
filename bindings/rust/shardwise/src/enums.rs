//! Enumerations of the interface.

use crate::convert::text;

c_enum! {
    /// Why a call failed: the codes of gRPC.
    Code {
        /// The call was cancelled by the caller.
        Cancelled = SHW_CANCELLED,
        /// No other code fits.
        Unknown = SHW_UNKNOWN,
        /// An argument is wrong, whatever the state of other objects.
        InvalidArgument = SHW_INVALID_ARGUMENT,
        /// A time limit passed.
        DeadlineExceeded = SHW_DEADLINE_EXCEEDED,
        /// There is nothing with this name.
        NotFound = SHW_NOT_FOUND,
        /// There is such a thing already.
        AlreadyExists = SHW_ALREADY_EXISTS,
        /// The system forbids it.
        PermissionDenied = SHW_PERMISSION_DENIED,
        /// Out of memory, or a limit of work was reached.
        ResourceExhausted = SHW_RESOURCE_EXHAUSTED,
        /// The call is not possible in this state, or no placement satisfies all options.
        FailedPrecondition = SHW_FAILED_PRECONDITION,
        /// Another rank failed or was aborted.
        Aborted = SHW_ABORTED,
        /// There is no such index.
        OutOfRange = SHW_OUT_OF_RANGE,
        /// The library does not support this.
        Unimplemented = SHW_UNIMPLEMENTED,
        /// A bug in the library.
        Internal = SHW_INTERNAL,
        /// Something that the call needs is not available on this machine, or not available now.
        Unavailable = SHW_UNAVAILABLE,
        /// Bytes are damaged.
        DataLoss = SHW_DATA_LOSS,
    }
}

impl Code {
    /// Its name in C: "INVALID_ARGUMENT".
    pub fn name(self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE", // of an error that says why there is no library to ask
            Self::DataLoss => "DATA_LOSS",
            // SAFETY: takes any number; the string lives as long as the library.
            Self::Other(number) => unsafe { text(shardwise_sys::shw_status_code_name(number)) },
        }
    }
}

c_enum! {
    /// Type of a tensor's elements.
    Dtype {
        /// IEEE, 32 bits.
        F32 = SHW_DTYPE_F32,
        /// IEEE, 64 bits.
        F64 = SHW_DTYPE_F64,
        /// IEEE, 16 bits.
        F16 = SHW_DTYPE_F16,
        /// The upper half of an f32.
        Bf16 = SHW_DTYPE_BF16,
        /// Signed, 8 bits.
        I8 = SHW_DTYPE_I8,
        /// Signed, 16 bits.
        I16 = SHW_DTYPE_I16,
        /// Signed, 32 bits.
        I32 = SHW_DTYPE_I32,
        /// Signed, 64 bits.
        I64 = SHW_DTYPE_I64,
        /// Unsigned, 8 bits.
        U8 = SHW_DTYPE_U8,
        /// One byte, 0 or 1.
        Bool = SHW_DTYPE_BOOL,
        /// Two f32: real, imaginary.
        C64 = SHW_DTYPE_C64,
        /// OCP, 8 bits: no infinity, 448 at most.
        F8E4M3Fn = SHW_DTYPE_F8E4M3FN,
        /// OCP, 8 bits: with infinity, 57344 at most.
        F8E5M2 = SHW_DTYPE_F8E5M2,
    }
}

impl Dtype {
    /// Bytes of one element; 0 for a dtype that this version does not name.
    pub const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool | Self::F8E4M3Fn | Self::F8E5M2 => 1,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 | Self::C64 => 8,
            Self::Other(_) => 0,
        }
    }
}

c_enum! {
    /// What an input or an output of a graph is for.
    Role {
        /// A tensor of the model that is trained.
        Parameter = SHW_ROLE_PARAMETER,
        /// A tensor of the model that is not trained.
        Buffer = SHW_ROLE_BUFFER,
        /// Passed to every run.
        Input = SHW_ROLE_INPUT,
        /// Gradient of a result, given by the caller.
        Tangent = SHW_ROLE_TANGENT,
        /// The seed of a random generator.
        Seed = SHW_ROLE_SEED,
        /// State that an optimizer keeps for a parameter.
        OptimizerState = SHW_ROLE_OPTIMIZER_STATE,
        /// A small tensor whose values are stored in the graph.
        Constant = SHW_ROLE_CONSTANT,
        /// Output: a result.
        Result = SHW_ROLE_RESULT,
        /// Output: gradient of an input.
        Gradient = SHW_ROLE_GRADIENT,
        /// Output: new value of an input.
        Update = SHW_ROLE_UPDATE,
    }
}

c_enum! {
    /// Who holds the memory of an input between runs.
    Storage {
        /// The caller, who passes the tensor to every run.
        Port = SHW_STORAGE_PORT,
        /// The executor, as long as it lives.
        State = SHW_STORAGE_STATE,
        /// The plan; read only.
        Constant = SHW_STORAGE_CONSTANT,
    }
}

c_enum! {
    /// Which half of a training step a node is part of.
    Phase {
        /// The forward pass.
        Forward = SHW_PHASE_FORWARD,
        /// The backward pass.
        Backward = SHW_PHASE_BACKWARD,
    }
}

c_enum! {
    /// How activation checkpointing tagged a node's result.
    Recompute {
        /// It must be kept.
        MustSave = SHW_RECOMPUTE_MUST_SAVE,
        /// It should be kept.
        PreferSave = SHW_RECOMPUTE_PREFER_SAVE,
        /// It should be computed again.
        PreferRecompute = SHW_RECOMPUTE_PREFER_RECOMPUTE,
        /// It must be computed again.
        MustRecompute = SHW_RECOMPUTE_MUST_RECOMPUTE,
    }
}

c_enum! {
    /// Kind of a device.
    DeviceKind {
        /// The CPU.
        Cpu = SHW_DEVICE_CPU,
        /// An NVIDIA GPU.
        Cuda = SHW_DEVICE_CUDA,
        /// Computes nothing: for dry runs.
        Null = SHW_DEVICE_NULL,
    }
}

c_enum! {
    /// How important a line of the log is.
    LogLevel {
        /// For the library's developers.
        Debug = SHW_LOG_DEBUG,
        /// Normal events.
        Info = SHW_LOG_INFO,
        /// Something that may be unexpected.
        Warning = SHW_LOG_WARNING,
        /// Something that failed.
        Error = SHW_LOG_ERROR,
    }
}

c_enum! {
    /// Format of a graph that is imported.
    GraphFormat {
        /// PyTorch's joint graph, as AutoParallel exports it ("ap-graph-1"): JSON, plain or gzipped.
        FxJson = SHW_GRAPH_FORMAT_FX_JSON,
        /// The text of [`Blob::graph_text`](crate::Blob::graph_text).
        Text = SHW_GRAPH_FORMAT_TEXT,
    }
}

c_enum! {
    /// Which strategies the planner chooses from.
    Rules {
        /// All strategies that are correct.
        Full = SHW_RULES_FULL,
        /// Those of the reference planner, at its prices.
        Compat = SHW_RULES_COMPAT,
    }
}

c_enum! {
    /// Where the plan of a row of [`Recipes`](crate::Recipes) comes from.
    RecipeKind {
        /// Of several placements within the memory limit, all rows among them, the one with the
        /// shortest simulated step. With an [`Overlap`](crate::Overlap) other than `Simulated`: the
        /// cheapest of all placements.
        Optimum = SHW_RECIPES_OPTIMUM,
        /// The plan under all options, including layouts and the parameter budget: the plan of
        /// [`Planner::compile`](crate::Planner::compile).
        Options = SHW_RECIPES_OPTIONS,
        /// The plan of a recipe.
        Recipe = SHW_RECIPES_RECIPE,
        /// The plan with layouts from another source.
        Foreign = SHW_RECIPES_FOREIGN,
    }
}

c_enum! {
    /// How a node of two plans differs.
    Difference {
        /// Its result has another layout.
        Result = SHW_DIFFERENCE_RESULT,
        /// The same result from operands with other layouts.
        Operands = SHW_DIFFERENCE_OPERANDS,
        /// The second plan does not have it.
        OnlyBefore = SHW_DIFFERENCE_ONLY_BEFORE,
        /// The first plan does not have it.
        OnlyAfter = SHW_DIFFERENCE_ONLY_AFTER,
    }
}

c_enum! {
    /// The kind of value that a parameter of an operation takes.
    ParamKind {
        /// An operand.
        Tensor = SHW_PARAM_TENSOR,
        /// An operand that may be absent.
        OptionalTensor = SHW_PARAM_OPTIONAL_TENSOR,
        /// An operand. It may be absent; then an attribute of this name gives a number.
        TensorOrNumber = SHW_PARAM_TENSOR_OR_NUMBER,
        /// All further operands.
        Tensors = SHW_PARAM_TENSORS,
        /// All further operands, some of which may be absent.
        OptionalTensors = SHW_PARAM_OPTIONAL_TENSORS,
        /// Attribute: an integer.
        Int = SHW_PARAM_INT,
        /// Attribute: a number with a fraction.
        Float = SHW_PARAM_FLOAT,
        /// Attribute: a number of either kind.
        Number = SHW_PARAM_NUMBER,
        /// Attribute: a truth value.
        Bool = SHW_PARAM_BOOL,
        /// Attribute: a list of integers.
        Ints = SHW_PARAM_INTS,
        /// Attribute: a dtype.
        Dtype = SHW_PARAM_DTYPE,
        /// Attribute: a text.
        String = SHW_PARAM_STRING,
    }
}

c_enum! {
    /// Format of a placement problem: JSON, plain or gzipped.
    ProblemFormat {
        /// "ap-problem-1", as AutoParallel exports it.
        Ap = SHW_PROBLEM_FORMAT_AP,
        /// An instance of the IOPDDL contest.
        Iopddl = SHW_PROBLEM_FORMAT_IOPDDL,
    }
}

c_enum! {
    /// What is wrong with a result, if anything.
    Verdict {
        /// Nothing is wrong.
        Right = SHW_VERDICT_RIGHT,
        /// The result is further from the run in f64 than rounding explains.
        TooFar = SHW_VERDICT_TOO_FAR,
        /// The result is within rounding, but the whole tensor is scaled.
        Scaled = SHW_VERDICT_SCALED,
        /// Integers, truth values, infinities or NaN differ from the unsharded run.
        Different = SHW_VERDICT_DIFFERENT,
        /// The plan computes something else, in any dtype.
        WrongPlan = SHW_VERDICT_WRONG_PLAN,
    }
}
