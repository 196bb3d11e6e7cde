//! Every mesh that a number of devices can form.

use shardwise_sys as sys;

use crate::convert::bytes;
use crate::handle::init;
use crate::progress::Hook;
use crate::{Code, CompileOptions, Context, Flow, Progress, Result};

handle! {
    /// Meshes and their plans, best first. Immutable.
    Search, shw_search, shw_search_destroy, { Send, Sync }
}

/// Options of [`Search::new`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchOptions {
    /// Number of devices, 1 to 2^20.
    pub num_devices: i64,
    /// The largest number of mesh axes, 1 to 6; 0: 3.
    pub max_mesh_dims: usize,
    /// How many of the best meshes are needed. Another mesh is given up as soon as its bound shows
    /// that it is not one of them. 0: all.
    pub num_best: usize,
    /// The number of threads, at most; 0: as many as cores.
    pub num_threads: i32,
    /// Plans each mesh for every set of mesh axes that could shard the first dim of the inputs.
    pub each_batch: bool,
}

record! {
    /// A mesh and its plan.
    SearchCandidate<'a>, shw_search_candidate(raw) {
        /// The mesh: "d0=8,d1=8".
        mesh: &'a str,
        /// The requested layout of the inputs; "": free.
        input_layout: &'a str,
        /// Mesh axes that shard the first dim of every input: "d0,d2".
        batch: &'a str,
        /// Why there is no plan; "": there is one.
        error: &'a str,
        /// Code of that error.
        code: Option<Code> = (raw.code != sys::SHW_OK).then_some(Code::from_raw(raw.code)),
        /// It is not among the best; only `bound_us` is known.
        given_up: bool,
        /// The objective equals the bound.
        proven: bool,
        /// Modelled cost of a step.
        objective_us: f64,
        /// Proven lower bound.
        bound_us: f64,
        /// Cost of kernels.
        compute_us: f64,
        /// Cost of communication for layout changes.
        communication_us: f64,
        /// Time of the steps of the lowered program.
        program_us: f64,
        /// Simulated step: all entries, by their weights.
        step_us: f64,
        /// Memory peak of one rank, as the planner counts it.
        memory_peak_bytes: i64,
        /// How long planning took.
        duration_s: f64,
    }
}

impl Search {
    /// Plans a graph on every mesh that a number of devices can form. The options have no mesh.
    pub fn new(
        context: &Context,
        graph: &[u8],
        options: &CompileOptions,
        search: &SearchOptions,
    ) -> Result<Self> {
        Self::hooked(context, graph, options, search, Hook::none())
    }

    /// As [`Search::new`]. Calls `progress` once for each plan, from one thread at a time.
    pub fn new_with_progress(
        context: &Context,
        graph: &[u8],
        options: &CompileOptions,
        search: &SearchOptions,
        mut progress: impl FnMut(&Progress<'_>) -> Flow + Send,
    ) -> Result<Self> {
        Self::hooked(context, graph, options, search, Hook::new(&mut progress))
    }

    fn hooked(
        context: &Context,
        graph: &[u8],
        options: &CompileOptions,
        search: &SearchOptions,
        hook: Hook<'_>,
    ) -> Result<Self> {
        let mut wanted = init(sys::shw_search_options_init);
        wanted.flags = if search.each_batch { sys::SHW_SEARCH_EACH_BATCH } else { 0 };
        wanted.num_devices = search.num_devices;
        (wanted.max_mesh_dims, wanted.num_best) = (search.max_mesh_dims, search.num_best);
        wanted.num_threads = search.num_threads;
        options.lend(hook, |raw| {
            // SAFETY: the bytes and all that the options point to live for the call.
            Self::create(&context.keep, |out| unsafe {
                sys::shw_search_create(context.as_ptr(), bytes(graph), raw, &wanted, out)
            })
        })
    }

    rows! {
        /// Meshes with a plan first, the best one at the beginning; then those that were given up;
        /// then those without a plan.
        candidates: SearchCandidate<'_> =
            shw_search_num_candidates, shw_search_get_candidate, shw_search_candidate_init;
    }

    texts! {
        /// The meshes as one JSON object.
        to_json = shw_search_to_json;
        /// The meshes as text for a person.
        to_text = shw_search_to_text;
    }
}
