//! Placement problems without a graph.

use std::ptr::null;
use std::time::Duration;

use shardwise_sys as sys;

use crate::convert::{bytes, some_index};
use crate::handle::{filled, init};
use crate::progress::Hook;
use crate::{Cancel, Context, Flow, ProblemFormat, Progress, Result};

handle! {
    /// The cheapest choice of one strategy for each node, with proof. Immutable.
    Solution, shw_solution, shw_solution_destroy, { Send, Sync }
}

/// Options of [`Solution::new`].
#[derive(Clone, Debug, Default)]
pub struct SolutionOptions {
    /// Format of the problem; None: [`ProblemFormat::Ap`].
    pub format: Option<ProblemFormat>,
    /// Nodes with the same root get one common strategy.
    pub tied: bool,
    /// The number of threads, at most; 0: as many as cores.
    pub num_threads: i32,
    /// Time limit. After it the best solution found so far is returned, unproven.
    pub time_limit: Option<Duration>,
    /// A flag that ends the call when it is raised.
    pub cancel: Option<Cancel>,
}

record! {
    /// Cost, proof and effort. Costs have the unit of the problem.
    SolutionSummary, shw_solution_summary(raw) {
        /// Cost of the chosen strategies.
        objective: f64,
        /// Proven lower bound of all choices.
        bound: f64,
        /// Duration of the solve.
        duration_s: f64,
        /// The objective equals the bound.
        proven: bool,
        /// Number of variables of the problem.
        num_variables: usize,
        /// Number of edges of the problem.
        num_edges: usize,
        /// Number of strategies, summed over the variables.
        num_strategies: usize,
        /// Number of variables that presolve left.
        num_variables_after_presolve: usize,
        /// Number of sweeps of the solver.
        num_sweeps: usize,
        /// Number of strategies that presolve left.
        num_strategies_after_presolve: usize,
        /// Number of branch-and-bound nodes of the solver.
        num_branch_nodes: usize,
        /// lp_solve is not installed; it might have closed the gap.
        lp_solve_missing: bool,
    }
}

record! {
    /// A limit on what the chosen strategies use together.
    SolutionBudget, shw_solution_budget(raw) {
        /// The limit.
        limit: f64,
        /// The use at the point where it is largest.
        peak: f64,
    }
}

record! {
    /// What a budget costs at one point.
    SolutionPrice, shw_solution_price(raw) {
        /// Number of the budget.
        budget: usize,
        /// Number of the point.
        point: usize,
        /// The amount by which the optimum of the relaxation would fall if the limit at this point
        /// were one unit higher.
        price: f64,
    }
}

impl Solution {
    /// Solves a problem exactly.
    pub fn new(context: &Context, problem: &[u8], options: &SolutionOptions) -> Result<Self> {
        Self::hooked(context, problem, options, Hook::none())
    }

    /// As [`Solution::new`]. Reports progress to a closure, on this thread.
    pub fn new_with_progress(
        context: &Context,
        problem: &[u8],
        options: &SolutionOptions,
        mut progress: impl FnMut(&Progress<'_>) -> Flow,
    ) -> Result<Self> {
        Self::hooked(context, problem, options, Hook::new(&mut progress))
    }

    fn hooked(
        context: &Context,
        problem: &[u8],
        options: &SolutionOptions,
        mut hook: Hook<'_>,
    ) -> Result<Self> {
        let mut raw = init(sys::shw_solution_options_init);
        raw.flags = if options.tied { sys::SHW_SOLUTION_TIED } else { 0 };
        raw.format = options.format.map_or(0, ProblemFormat::raw);
        raw.num_threads = options.num_threads;
        raw.time_limit_s = options.time_limit.map_or(0.0, |limit| limit.as_secs_f64());
        raw.cancel = options.cancel.as_ref().map_or(null(), Cancel::as_ptr);
        (raw.progress, raw.progress_user) = hook.raw();
        // SAFETY: the bytes and the options live for the call.
        let solution = Self::create(&context.keep, |out| unsafe {
            sys::shw_solution_create(context.as_ptr(), bytes(problem), &raw, out)
        });
        hook.finish();
        solution
    }

    /// Cost, proof and effort.
    pub fn summary(&self) -> Result<SolutionSummary> {
        // SAFETY: the handle is valid.
        unsafe {
            let get = |out: *mut _| sys::shw_solution_get_summary(self.as_ptr(), out);
            Ok(SolutionSummary::from_raw(filled(sys::shw_solution_summary_init, get)?))
        }
    }

    /// The strategy of each node, in the order of the problem; none for an output.
    pub fn strategies(&self) -> Vec<Option<usize>> {
        // SAFETY: the handle is valid.
        unsafe {
            let nodes = 0..sys::shw_solution_num_nodes(self.as_ptr());
            nodes.map(|node| some_index(sys::shw_solution_strategy(self.as_ptr(), node))).collect()
        }
    }

    rows! {
        /// The budgets, and how much of them is used.
        budgets: SolutionBudget = shw_solution_num_budgets, shw_solution_get_budget, shw_solution_budget_init;
        /// The certificate of the bound.
        prices: SolutionPrice = shw_solution_num_prices, shw_solution_get_price, shw_solution_price_init;
    }

    texts! {
        /// The solution as one JSON object.
        to_json = shw_solution_to_json;
        /// The solution as text for a person.
        to_text = shw_solution_to_text;
    }
}
