//! Shardwise compiles a tensor graph and a device mesh to an executable plan with the cheapest
//! placement of every tensor, and runs plans. This crate is the safe way to it from Rust.
//!
//! ```
//! use shardwise::{CompileOptions, Context, Dtype, Graph, Plan, Runner, TensorView};
//!
//! # fn main() -> shardwise::Result<()> {
//! let context = Context::new()?;
//!
//! // y = relu(x w)
//! let graph = Graph::new(&context)?;
//! let x = graph.input("x", Dtype::F32, &[4, 2])?;
//! let w = graph.parameter("w", Dtype::F32, &[2, 8])?;
//! graph.result("y", x.matmul(w)?.relu()?)?;
//!
//! let options = CompileOptions::new().mesh(&[("dp", 2), ("tp", 2)]);
//! let plan = Plan::compile(&context, &graph.finish()?, &options)?;
//! assert!(plan.summary()?.proven);
//!
//! // Four virtual ranks in this process, told as one.
//! let mut runner = Runner::new(&plan)?;
//! let x = TensorView::new(&[1.0f32; 8], &[4, 2])?;
//! let w = TensorView::new(&[0.5f32; 16], &[2, 8])?;
//! let outputs = runner.run("step", &[("input.x", x), ("param.w", w)])?;
//! assert_eq!(outputs.read::<f32>("output.y")?, [1.0; 32]);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | build a graph, or import one | [`Graph`], [`import_graph`], [`import_onnx`] |
//! | plan it | [`Plan::compile`] with [`CompileOptions`]; [`Planner`] for several questions of one graph |
//! | look at a plan | [`Plan::summary`], [`Plan::ports`], [`Plan::nodes`], [`Plan::to_text`], … |
//! | run it, all ranks used as one | [`Runner`] |
//! | run it, rank by rank | [`World`], [`Executor`], [`Session`], [`Event`] |
//! | check results | [`Verification`] |
//!
//! Errors are [`Error`]: a code, a message, the node at fault, and constraints in conflict. Panics
//! of callbacks do not pass through the library: the call that they belong to resumes them. Types
//! that may be used from several threads are `Sync`, as the `@thread` notes of the C headers say.
#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

#[macro_use]
mod macros;

mod answers;
mod bench;
mod blob;
mod buffer;
mod cancel;
mod compile;
mod context;
mod convert;
mod device;
mod enums;
mod error;
mod event;
mod executor;
mod graph;
mod group;
mod handle;
mod hardware;
mod import;
mod library;
mod node;
mod ops;
mod plan;
mod plan_rows;
mod planner;
mod progress;
mod region;
mod runner;
mod search;
mod session;
mod solution;
mod tensor;
mod usage;
mod verification;
mod world;

pub use answers::{
    Comparison, ComparisonNode, Explanation, ExplanationAlternative, ExplanationEdge, ExplanationStrategy,
    ExplanationSummary, Pareto, ParetoPoint, PlanExplanation, PlanExplanationGroup, PlanExplanationRival,
    PlanExplanationSummary, Recipes, RecipesRow,
};
pub use bench::{BenchOptions, CollectiveBenchOptions};
pub use blob::Blob;
pub use buffer::Buffer;
pub use cancel::Cancel;
pub use compile::{Budget, CompileOptions, Overlap};
pub use context::{Allocator, Context, ContextOptions, Task};
pub use device::{Device, DeviceInfo};
pub use enums::{
    Code, DeviceKind, Difference, Dtype, GraphFormat, LogLevel, ParamKind, Phase, ProblemFormat, RecipeKind,
    Recompute, Role, Rules, Storage, Verdict,
};
pub use error::{Error, Result};
pub use event::Event;
pub use executor::{AbortHandle, Executor, ExecutorOptions, Run};
pub use graph::{Entry, Graph, Input, Symbol};
pub use group::Group;
pub use hardware::{
    hardware_names, Calibration, CalibrationCollective, CalibrationFigure, CalibrationFile,
    CalibrationOptions, Hardware, HardwareInfo,
};
pub use import::{import_graph, import_onnx, GraphSummary, OnnxModel, OnnxOptions};
#[cfg(feature = "runtime")]
pub use library::open_library;
pub use node::{Attr, NodeOptions, Value, ValueType};
pub use ops::{Op, OpParam};
pub use plan::Plan;
pub use plan_rows::{
    MeshAxis, PlanCollective, PlanEffort, PlanEntry, PlanEntryTime, PlanMemoryShare, PlanNode, PlanPhase,
    PlanPort, PlanStep, PlanSummary, PlanSymbol,
};
pub use planner::{Changes, Planner};
pub use progress::{Flow, Progress};
pub use region::{Region, RegionCall, RegionTensor};
pub use runner::{Pending, Runner};
pub use search::{Search, SearchCandidate, SearchOptions};
pub use session::Session;
pub use solution::{Solution, SolutionBudget, SolutionOptions, SolutionPrice, SolutionSummary};
pub use tensor::{Element, TensorView};
pub use verification::{Verification, VerificationOptions, VerificationSummary, VerificationTensor};
pub use world::{World, WorldId, WorldOptions};

/// Version of the library that is loaded, such as "0.2.0".
pub fn version() -> &'static str {
    library::must_be_ready();
    // SAFETY: the string lives as long as the library.
    unsafe { convert::text(shardwise_sys::shw_version_string()) }
}

/// The code blocks of the README, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
