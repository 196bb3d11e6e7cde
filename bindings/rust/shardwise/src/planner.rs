//! Answers several questions about one graph.

use std::ptr::null;
use std::time::Duration;

use shardwise_sys as sys;

use crate::compile::{names, pins, port_layouts, Lent};
use crate::convert::{bytes, Strings};
use crate::handle::init;
use crate::progress::Hook;
use crate::{
    Blob, Budget, Cancel, CompileOptions, Context, Explanation, Flow, Pareto, Plan, PlanExplanation,
    Progress, Recipes, Result,
};

handle! {
    /// A graph prepared for a mesh: it is rewritten, and has the strategies of every node and their
    /// prices. Each question takes one or more solves.
    Planner, shw_planner, shw_planner_destroy, { Send }
}

type ProgressBox<'a> = Box<dyn FnMut(&Progress<'_>) -> Flow + 'a>;

/// Changes of the planner's options for one question. The default changes nothing.
#[derive(Default)]
pub struct Changes<'a> {
    input_layout: Option<String>,
    output_layout: Option<String>,
    input_layouts: Vec<(String, String)>,
    output_layouts: Vec<(String, String)>,
    pins: Vec<(String, String)>,
    without: Vec<String>,
    placements: String,
    memory_limit_bytes: i64,
    param_budget: Option<Budget>,
    time_limit: Option<Duration>,
    cancel: Option<Cancel>,
    progress: Option<ProgressBox<'a>>,
}

impl<'a> Changes<'a> {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`CompileOptions::input_layout`].
    #[must_use]
    pub fn input_layout(mut self, layout: &str) -> Self {
        self.input_layout = Some(layout.to_owned());
        self
    }

    /// As [`CompileOptions::output_layout`].
    #[must_use]
    pub fn output_layout(mut self, layout: &str) -> Self {
        self.output_layout = Some(layout.to_owned());
        self
    }

    /// As [`CompileOptions::input_layout_of`]. It takes precedence over the layouts of the options.
    #[must_use]
    pub fn input_layout_of(mut self, port: &str, layout: &str) -> Self {
        self.input_layouts.push((port.to_owned(), layout.to_owned()));
        self
    }

    /// As [`CompileOptions::output_layout_of`]. It takes precedence over the layouts of the
    /// options.
    #[must_use]
    pub fn output_layout_of(mut self, port: &str, layout: &str) -> Self {
        self.output_layouts.push((port.to_owned(), layout.to_owned()));
        self
    }

    /// As [`CompileOptions::pin`], in addition to the pins of the options.
    #[must_use]
    pub fn pin(mut self, pattern: &str, layout: &str) -> Self {
        self.pins.push((pattern.to_owned(), layout.to_owned()));
        self
    }

    /// As [`CompileOptions::without`], in addition to those of the options.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.without.extend(names.iter().map(|&name| name.to_owned()));
        self
    }

    /// JSON of [`Plan::to_placements`]: the nodes that it names get these placements.
    #[must_use]
    pub fn placements(mut self, json: &str) -> Self {
        self.placements = json.to_owned();
        self
    }

    /// As [`CompileOptions::memory_limit_bytes`].
    #[must_use]
    pub fn memory_limit_bytes(mut self, bytes: i64) -> Self {
        self.memory_limit_bytes = bytes;
        self
    }

    /// As [`CompileOptions::param_budget`].
    #[must_use]
    pub fn param_budget(mut self, budget: Budget) -> Self {
        self.param_budget = Some(budget);
        self
    }

    /// Time limit for all solves of the question. After it the best answer found so far is
    /// returned, unproven.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// A flag that ends the question when it is raised.
    #[must_use]
    pub fn cancel(mut self, flag: &Cancel) -> Self {
        self.cancel = Some(flag.clone());
        self
    }

    /// A closure that reports progress, called on the thread that asks.
    #[must_use]
    pub fn progress(mut self, progress: impl FnMut(&Progress<'_>) -> Flow + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    fn lend<T>(mut self, call: impl FnOnce(&sys::shw_planner_changes) -> Result<T>) -> Result<T> {
        let mut progress = self.progress.take();
        let mut hook = match &mut progress {
            Some(progress) => Hook::new(&mut **progress),
            None => Hook::none(),
        };
        let mut lent = Lent::default();
        let mut raw = self.raw(&mut lent)?;
        (raw.progress, raw.progress_user) = hook.raw();
        let result = call(&raw);
        hook.finish();
        result
    }

    fn raw(&self, lent: &mut Lent) -> Result<sys::shw_planner_changes> {
        let mut raw = init(sys::shw_planner_changes_init);
        raw.input_layout = lent.strings.optional(self.input_layout.as_deref())?;
        raw.output_layout = lent.strings.optional(self.output_layout.as_deref())?;
        (raw.input_layouts, raw.num_input_layouts) =
            port_layouts(&self.input_layouts, &mut lent.strings, &mut lent.input_layouts)?;
        (raw.output_layouts, raw.num_output_layouts) =
            port_layouts(&self.output_layouts, &mut lent.strings, &mut lent.output_layouts)?;
        (raw.pins, raw.num_pins) = pins(&self.pins, &mut lent.strings, &mut lent.pins)?;
        (raw.without, raw.num_without) = names(&self.without, &mut lent.strings, &mut lent.without)?;
        raw.placements = bytes(self.placements.as_bytes());
        raw.memory_limit_bytes = self.memory_limit_bytes;
        (raw.param_budget, raw.param_budget_factor) = self.param_budget.map_or((0, 0.0), Budget::raw);
        raw.time_limit_s = self.time_limit.map_or(0.0, |limit| limit.as_secs_f64());
        raw.cancel = self.cancel.as_ref().map_or(null(), Cancel::as_ptr);
        Ok(raw)
    }
}

impl Planner {
    /// Verifies and rewrites a graph, and prices every strategy of every node on the mesh.
    pub fn new(context: &Context, graph: &[u8], options: &CompileOptions) -> Result<Self> {
        options.lend(Hook::none(), |raw| {
            // SAFETY: the bytes and all that the options point to live for the call.
            Self::create(&context.keep, |out| unsafe {
                sys::shw_planner_create(context.as_ptr(), bytes(graph), raw, out)
            })
        })
    }

    /// Makes the cheapest plan: what [`Plan::compile`] makes with the planner's options and the
    /// changes.
    pub fn compile(&mut self, changes: Changes<'_>) -> Result<Plan> {
        changes.lend(|raw| {
            // SAFETY: all that the changes point to lives for the call.
            Plan::create(&self.keep, |out| unsafe { sys::shw_planner_compile(self.as_ptr(), raw, out) })
        })
    }

    /// Exports the cheapest placement in the format of AutoParallel, as JSON.
    pub fn export(&mut self, changes: Changes<'_>) -> Result<String> {
        changes.lend(|raw| {
            // SAFETY: as above.
            let blob =
                Blob::create(&self.keep, |out| unsafe { sys::shw_planner_export(self.as_ptr(), raw, out) })?;
            Ok(blob.to_text())
        })
    }

    /// Explains why a node has its placement, and what every other layout of its result would cost.
    /// The problem is also solved again for the `num_forced` layouts with the lowest bounds (0: 3),
    /// and in any case for `layout`.
    pub fn explain(
        &mut self,
        node: &str,
        layout: Option<&str>,
        num_forced: usize,
        changes: Changes<'_>,
    ) -> Result<Explanation> {
        let mut strings = Strings::default();
        let mut options = init(sys::shw_explanation_options_init);
        options.layout = strings.optional(layout)?;
        options.num_forced = num_forced;
        let node = strings.add(node)?;
        changes.lend(|raw| {
            // SAFETY: the strings and all that the changes point to live for the call.
            Explanation::create(&self.keep, |out| unsafe {
                sys::shw_planner_explain(self.as_ptr(), node, &options, raw, out)
            })
        })
    }

    /// Explains the costs of the cheapest plan, and how far prices may change before another plan
    /// is better. Not available with `Overlap::Simulated`.
    pub fn explain_plan(&mut self, changes: Changes<'_>) -> Result<PlanExplanation> {
        changes.lend(|raw| {
            // SAFETY: all that the changes point to lives for the call.
            PlanExplanation::create(&self.keep, |out| unsafe {
                sys::shw_planner_explain_plan(self.as_ptr(), raw, out)
            })
        })
    }

    /// The cheapest placements under a series of memory limits, from no limit to the lowest peak:
    /// `num_points` of them, if so many exist (0: 12).
    pub fn pareto(&mut self, num_points: usize, changes: Changes<'_>) -> Result<Pareto> {
        let mut options = init(sys::shw_pareto_options_init);
        options.num_points = num_points;
        changes.lend(|raw| {
            // SAFETY: all that the changes point to lives for the call.
            Pareto::create(&self.keep, |out| unsafe {
                sys::shw_planner_pareto(self.as_ptr(), &options, raw, out)
            })
        })
    }

    /// Plans the model by well-known recipes ("fsdp", …; empty: all), and compares these plans with
    /// the optimum. The optimum is the placement with the shortest simulated step, of several that
    /// include all recipes. With an [`Overlap`](crate::Overlap) other than `Simulated`, it is the
    /// cheapest of all placements. `foreign`: JSON of layouts to score as well, such as
    /// [`Plan::to_placements`]; "": none.
    pub fn compare(&mut self, recipes: &[&str], foreign: &str, changes: Changes<'_>) -> Result<Recipes> {
        let mut strings = Strings::default();
        let recipes: Vec<String> = recipes.iter().map(|&name| name.to_owned()).collect();
        let mut lent = Vec::new();
        let mut options = init(sys::shw_recipes_options_init);
        (options.recipes, options.num_recipes) = names(&recipes, &mut strings, &mut lent)?;
        options.foreign = bytes(foreign.as_bytes());
        changes.lend(|raw| {
            // SAFETY: the strings and all that the changes point to live for the call.
            Recipes::create(&self.keep, |out| unsafe {
                sys::shw_planner_compare(self.as_ptr(), &options, raw, out)
            })
        })
    }

    /// A report of a plan that this planner made with the changes: HTML that needs no other file.
    /// It has the price of every layout that was not chosen. `other` and `pareto` are shown beside
    /// the plan.
    pub fn to_report(
        &mut self,
        plan: &Plan,
        other: Option<&Plan>,
        pareto: Option<&Pareto>,
        changes: Changes<'_>,
    ) -> Result<String> {
        let other = other.map_or(std::ptr::null(), |plan| -> *const sys::shw_plan { plan.as_ptr() });
        let pareto = pareto.map_or(std::ptr::null(), |pareto| -> *const sys::shw_pareto { pareto.as_ptr() });
        changes.lend(|raw| {
            // SAFETY: the handles and all that the changes point to live for the call.
            let blob = Blob::create(&self.keep, |out| unsafe {
                sys::shw_planner_to_report(self.as_ptr(), raw, plan.as_ptr(), other, pareto, out)
            })?;
            Ok(blob.to_text())
        })
    }
}
