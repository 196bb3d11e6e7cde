//! Plans, and what is asked of them.

mod common;

use std::time::Duration;

use shardwise::{
    hardware_names, Budget, Calibration, CalibrationFile, CalibrationOptions, Cancel, Changes, Code,
    CompileOptions, Context, Flow, Hardware, Overlap, Plan, Planner, RecipeKind, Rules, Search,
    SearchOptions, Solution, SolutionOptions, Storage,
};

fn mesh() -> CompileOptions {
    CompileOptions::new().mesh(&[("dp", 2), ("tp", 2)])
}

#[test]
fn a_plan_is_the_same_after_a_file() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, false);
    let bytes = plan.save().unwrap();
    let loaded = Plan::load(&context, &bytes).unwrap();
    assert_eq!(*loaded.save().unwrap(), *bytes);
    assert_eq!(loaded.num_ranks(), 4);
    assert_eq!(loaded.summary().unwrap().objective_us, plan.summary().unwrap().objective_us);
    let mut damaged = bytes.to_vec();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert_eq!(Plan::load(&context, &damaged).unwrap_err().code(), Code::DataLoss);
}

#[test]
fn it_tells_what_it_consists_of() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let summary = plan.summary().unwrap();
    assert!(summary.proven && summary.objective_us >= summary.bound_us);
    assert_eq!((summary.hardware, summary.rules, summary.num_ranks), ("h100", "full", 4));
    let mesh = plan.mesh().unwrap();
    assert_eq!((mesh[0].name, mesh[0].size, mesh[1].name), ("dp", 2, "tp"));

    let entries = plan.entries().unwrap();
    assert_eq!((entries.len(), entries[0].name), (1, "step"));
    let w = plan.port(plan.find_port(None, "param.w").unwrap()).unwrap();
    assert_eq!((w.storage, w.dims), (Storage::State, &common::W[..]));
    assert_eq!(w.local_dims.iter().product::<i64>() * 4, common::W.iter().product::<i64>());
    let update = plan.port(plan.find_port(None, "update.w").unwrap()).unwrap();
    assert_eq!(update.updates, Some(plan.find_port(None, "param.w").unwrap()));
    assert_eq!(plan.find_port(None, "param.v").unwrap_err().code(), Code::NotFound);
    assert_eq!(plan.port(99).unwrap_err().code(), Code::OutOfRange);

    let nodes = plan.nodes().unwrap();
    let sum: f64 =
        nodes.iter().map(|node| node.compute_us + node.communication_us + node.transition_us).sum();
    assert!((sum - summary.objective_us).abs() < 1e-9 * summary.objective_us);
    assert_eq!(plan.steps().unwrap().len(), summary.num_steps);
    let collectives: usize = plan.collectives().unwrap().iter().map(|kind| kind.count).sum();
    assert_eq!(plan.steps().unwrap().iter().filter(|step| !step.axes.is_empty()).count(), collectives);
    let shares: i64 = plan.memory_shares().unwrap().iter().map(|share| share.bytes).sum();
    assert_eq!(shares, summary.memory_peak_bytes);
    assert!(plan.phases().unwrap().iter().any(|phase| phase.name == "solve"));
    assert!(plan.effort().unwrap().num_variables > 0);
    assert!(plan.symbols().unwrap().is_empty());

    assert!(plan.to_json().unwrap().starts_with('{'));
    assert!(plan.to_string().contains("proven optimal"));
    for text in
        [plan.to_module_tree(), plan.to_module_tree_text(), plan.to_program_text(), plan.to_placements()]
    {
        assert!(!text.unwrap().is_empty());
    }
    assert!(plan.to_trace(Some("step")).unwrap().contains("traceEvents"));
    assert_eq!(plan.to_trace(Some("nothing")).unwrap_err().code(), Code::NotFound);
}

#[test]
fn options_reach_the_planner() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let options = mesh().hardware("a100").rules(Rules::Compat).input_layout("S(0)R").output_layout("S(0)R");
    let options = options.param_budget(Budget::None).overlap(Overlap::Prefetch(0.25)).num_threads(1);
    let plan = Plan::compile(&context, &graph, &options).unwrap();
    let summary = plan.summary().unwrap();
    assert_eq!((summary.hardware, summary.rules, summary.overlap), ("a100", "compat", "prefetch 0.25"));
    assert_eq!(plan.port(plan.find_port(None, "input.x").unwrap()).unwrap().layout, "S(0)R");

    let plan = Plan::compile(&context, &graph, &mesh().overlap(Overlap::Simulated)).unwrap();
    assert_eq!(plan.summary().unwrap().overlap, "simulated");

    let described = Hardware::Named("h100").to_json(&context).unwrap();
    let named =
        Plan::compile(&context, &graph, &mesh().hardware("h100")).unwrap().summary().unwrap().objective_us;
    let options = mesh().hardware_description(&described);
    assert_eq!(Plan::compile(&context, &graph, &options).unwrap().summary().unwrap().objective_us, named);

    for (options, code) in [
        (mesh().hardware("abacus"), Code::InvalidArgument),
        (mesh().hardware("h\0"), Code::InvalidArgument),
        (CompileOptions::new().mesh(&[("dp", 0)]), Code::InvalidArgument),
        (mesh().overlap(Overlap::Bounded(2.0)), Code::InvalidArgument),
        (mesh().recompute("all"), Code::InvalidArgument),
        (mesh().prefetch(-1, 0), Code::InvalidArgument),
        (mesh().products_between_reductions(-1), Code::InvalidArgument),
        (mesh().memory_limit_bytes(16), Code::FailedPrecondition),
    ] {
        assert_eq!(Plan::compile(&context, &graph, &options).unwrap_err().code(), code);
    }
}

#[test]
fn a_conflict_names_its_constraints() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let options = mesh().pin("param.w", "RR").pin("param.w", "S(0)S(1)");
    let error = Plan::compile(&context, &graph, &options).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.conflicts().len() >= 2, "{error}");
    let without: Vec<_> = error.conflicts().iter().map(String::as_str).collect();
    Plan::compile(&context, &graph, &options.without(&without)).unwrap();
}

#[test]
fn cancelling_and_time_limits_end_the_call() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let flag = Cancel::new().unwrap();
    flag.clone().raise();
    let error = Plan::compile(&context, &graph, &mesh().cancel(&flag)).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    let error = Plan::compile_with_progress(&context, &graph, &mesh(), |_| Flow::Cancel).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    Plan::compile(&context, &graph, &mesh().time_limit(Duration::from_secs(60))).unwrap();
}

#[test]
fn a_planner_answers_several_questions() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let mut planner = Planner::new(&context, &graph, &mesh()).unwrap();
    let plan = planner.compile(Changes::new()).unwrap();
    assert_eq!(*plan.save().unwrap(), *Plan::compile(&context, &graph, &mesh()).unwrap().save().unwrap());

    let pinned = planner.compile(Changes::new().pin("input.x", "S(0)R")).unwrap();
    assert!(pinned.summary().unwrap().objective_us >= plan.summary().unwrap().objective_us);
    assert_eq!(pinned.port(pinned.find_port(None, "input.x").unwrap()).unwrap().layout, "S(0)R");
    let same = plan.compare(&plan).unwrap();
    assert!(same.nodes().unwrap().is_empty() && same.num_unchanged() > 0);
    let comparison = plan.compare(&pinned).unwrap();
    let changed = comparison.nodes().unwrap();
    assert!(changed.iter().any(|node| node.to == "S(0)R" && node.from != "S(0)R"), "{changed:?}");
    assert!(comparison.to_json().unwrap().contains("unchanged") && !comparison.to_text().unwrap().is_empty());
    let same = planner.compile(Changes::new().placements(&plan.to_placements().unwrap())).unwrap();
    assert_eq!(same.summary().unwrap().objective_us, plan.summary().unwrap().objective_us);

    let why = planner.explain("param.w", Some("RR"), 2, Changes::new().param_budget(Budget::None)).unwrap();
    let chosen: Vec<_> = why.alternatives().unwrap().into_iter().filter(|layout| layout.chosen).collect();
    assert_eq!(chosen.len(), 1);
    assert!(why.alternatives().unwrap().iter().any(|layout| layout.layout == "RR" && layout.forced));
    assert!(chosen[0].floor_us <= why.summary().unwrap().objective_us * (1.0 + 1e-9));
    assert!(!why.strategies().unwrap().is_empty() && !why.edges().unwrap().is_empty());
    assert!(!why.to_json().unwrap().is_empty() && !why.to_text().unwrap().is_empty());
    assert_eq!(planner.explain("nothing", None, 0, Changes::new()).err().unwrap().code(), Code::NotFound);

    let whole = planner.explain_plan(Changes::new()).unwrap();
    let summary = whole.summary().unwrap();
    assert!(summary.factor_from <= 1.0 && summary.factor_to >= 1.0);
    assert!(whole.rivals().unwrap().len() <= 2 && whole.edges().unwrap().len() <= summary.num_paying_edges);
    assert!(!whole.to_text().unwrap().is_empty() && whole.groups().is_ok() && whole.to_json().is_ok());

    let mut asked = 0;
    let changes = Changes::new().param_budget(Budget::None).progress(|_| {
        asked += 1;
        Flow::Continue
    });
    let pareto = planner.pareto(4, changes).unwrap();
    let points = pareto.points().unwrap();
    assert!(points.windows(2).all(|two| two[0].objective_us < two[1].objective_us));
    assert!(
        pareto.to_svg().unwrap().contains("<svg") && pareto.to_json().is_ok() && pareto.to_text().is_ok()
    );
    assert!(asked > 0);
    let recipes = planner.compare(&["ddp", "hsdp"], "", Changes::new()).unwrap();
    let rows = recipes.rows().unwrap();
    assert!(rows[0].kind == RecipeKind::Optimum && rows[0].step_us > 0.0);
    assert!(rows.iter().all(|row| !row.why_not.is_empty() || row.step_us >= rows[0].step_us));
    assert!(
        recipes.to_svg().unwrap().contains("<svg") && recipes.to_json().is_ok() && recipes.to_text().is_ok()
    );
    assert!(planner.compare(&["zero"], "", Changes::new()).is_err());
    let plan = planner.compile(Changes::new()).unwrap();
    let page = planner.to_report(&plan, Some(&plan), Some(&pareto), Changes::new()).unwrap();
    assert!(page.contains("\"alternatives\":[") && page.contains("\"lowest_peak\""));
    assert!(plan.to_report(None, None).unwrap().contains("\"reasons\":null"));
    assert!(planner.export(Changes::new()).unwrap().contains("nodes"));
}

#[test]
fn a_search_goes_through_meshes() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let wanted = SearchOptions { num_devices: 4, ..SearchOptions::default() };
    let mut told = 0;
    let search = Search::new_with_progress(&context, &graph, &CompileOptions::new(), &wanted, |_| {
        told += 1;
        Flow::Continue
    })
    .unwrap();
    let candidates = search.candidates().unwrap();
    let planned: Vec<_> = candidates.iter().filter(|candidate| candidate.code.is_none()).collect();
    assert!(planned.len() >= 2 && told >= planned.len());
    assert!(planned.windows(2).all(|two| two[0].objective_us <= two[1].objective_us));
    assert!(search.to_json().unwrap().contains("meshes") && !search.to_text().unwrap().is_empty());
    let refused = Search::new(&context, &graph, &mesh(), &wanted).err().unwrap();
    assert_eq!(refused.code(), Code::InvalidArgument);
}

#[test]
fn machines_and_problems() {
    let context = Context::new().unwrap();
    assert!(hardware_names().contains(&"h100"));
    let info = Hardware::Named("h100").info().unwrap();
    assert!(info.flops_bf16 > info.flops_f32 && info.nccl_model && info.devices_per_node == 8);
    assert_eq!(Hardware::Described("[]").info().unwrap_err().code(), Code::InvalidArgument);
    let file = CalibrationFile { name: "run.txt", output: b"no table", collective: None };
    let error = Calibration::new(&context, &[file], &CalibrationOptions::default()).err().unwrap();
    assert!(error.code() == Code::InvalidArgument && error.message().contains("run.txt"), "{error}");
    let unknown = CalibrationOptions { device: Some("abacus"), ..Default::default() };
    let error = Calibration::new(&context, &[], &unknown).err().unwrap();
    assert_eq!(error.code(), Code::InvalidArgument);
    let error = Solution::new(&context, b"{}", &SolutionOptions::default()).err().unwrap();
    assert_eq!(error.code(), Code::InvalidArgument);
}
