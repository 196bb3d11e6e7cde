//! Runs: results, state, buffers, and what is refused.

mod common;

use common::{expected, numbers, view, W, X};
use shardwise::{
    Buffer, Code, CollectiveBenchOptions, CompileOptions, Context, Device, DeviceKind, Dtype, Event,
    Executor, ExecutorOptions, Graph, Input, Plan, Role, Run, Runner, Session, Symbol, TensorView, Verdict,
    Verification, VerificationOptions, World, WorldOptions,
};

fn executors(context: &Context, plan: &Plan) -> Vec<Executor> {
    let world = World::virtual_ranks(context, 4, &WorldOptions::default()).unwrap();
    (0..4).map(|rank| Executor::new(plan, &world, rank, ExecutorOptions::default()).unwrap()).collect()
}

/// All ranks' pieces of a tensor.
fn pieces(plan: &Plan, port: &str, whole: TensorView<'_>) -> Vec<Buffer> {
    let port = plan.find_port(None, port).unwrap();
    (0..4).map(|rank| plan.shard(port, rank, whole, None).unwrap()).collect()
}

#[test]
fn results_are_those_of_one_device() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, false);
    let mut runner = Runner::new(&plan).unwrap();
    for seed in 0..3 {
        let (x, w) = (numbers(&X, seed), numbers(&W, seed + 1));
        let outputs = runner.run("step", &[("param.w", view(&w, &W)), ("input.x", view(&x, &X))]).unwrap();
        let (y, next) = expected(&x, &w);
        assert_eq!(outputs.read::<f32>("output.y").unwrap(), y);
        assert_eq!(outputs.read::<f32>("update.w").unwrap(), next);
        assert_eq!(outputs.read::<f64>("output.y").unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(outputs.read::<f32>("output.z").unwrap_err().code(), Code::NotFound);
    }
}

#[test]
fn executors_keep_state() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut runner = Runner::new(&plan).unwrap();
    let (x, mut w) = (numbers(&X, 3), numbers(&W, 4));
    assert_eq!(runner.state::<f32>("param.w").unwrap(), vec![0.0; w.len()]);
    runner.set_state("param.w", view(&w, &W)).unwrap();
    for _ in 0..3 {
        let outputs = runner.run("step", &[("input.x", view(&x, &X))]).unwrap();
        let (y, next) = expected(&x, &w);
        assert_eq!(outputs.read::<f32>("output.y").unwrap(), y);
        assert_eq!(runner.state::<f32>("param.w").unwrap(), next);
        w = next;
    }
    assert_eq!(runner.set_state("param.v", view(&w, &W)).unwrap_err().code(), Code::NotFound);
    assert_eq!(runner.set_state("input.x", view(&x, &X)).unwrap_err().code(), Code::InvalidArgument);
}

/// Each sees what those before it have made of the parameter. Inputs are copied when a run starts.
#[test]
fn several_runs_are_in_flight() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut runner = Runner::new(&plan).unwrap();
    let mut w = numbers(&W, 4);
    runner.set_state("param.w", view(&w, &W)).unwrap();
    let start = |runner: &mut Runner, seed| {
        let x = numbers(&X, seed);
        runner.start("step", &[("input.x", view(&x, &X))]).unwrap()
    };
    let pending: Vec<_> = (0..6).map(|seed| start(&mut runner, seed)).collect();
    assert!(pending[5].wait_timeout(std::time::Duration::from_secs(60)).unwrap());
    for (seed, run) in (0..).zip(&pending) {
        let (y, next) = expected(&numbers(&X, seed), &w);
        assert!(run.is_done());
        assert_eq!(run.read::<f32>("output.y").unwrap(), y);
        w = next;
    }
    assert_eq!(pending[0].gather("output.z").err().unwrap().code(), Code::NotFound);
    assert_eq!(plan.find_output(0, "output.y").unwrap(), 0);
    assert_eq!(plan.find_input(0, "output.y").unwrap_err().code(), Code::NotFound);
    let time = plan.entry_time(0).unwrap();
    assert!(time.us > 0.0 && time.lower_bound_us <= time.us);

    let abort = runner.abort_handle();
    let last = start(&mut runner, 0);
    abort.abort();
    let _ = last.wait(); // it may have been faster
    start(&mut runner, 0).wait().unwrap();
    let last = start(&mut runner, 1);
    drop((runner, plan, context));
    abort.abort(); // of a runner that is gone
    assert!(last.is_done());
}

/// The array of sizes may be gone when the view is used.
#[test]
fn a_view_has_sizes_of_its_own() {
    let (rows, x) = (8i64, vec![1.0f32; 32]);
    let view = TensorView::new(&x, &[rows, 4]).unwrap();
    let column = TensorView::strided(&x, &[rows, 1], &[4, 1]).unwrap();
    assert_eq!((view.dims(), column.dims()), (&[8i64, 4][..], &[8i64, 1][..]));
    let device = shardwise::Device::cpu(&Context::new().unwrap()).unwrap();
    assert_eq!(shardwise::Buffer::copy_of(&device, column).unwrap().dims().unwrap(), [8, 1]);
    let error = TensorView::new(&x[..1], &[1; 9]).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Code::InvalidArgument, "a tensor has at most 8 dims, not 9")
    );
}

#[test]
fn wrong_inputs_are_refused_and_the_next_run_works() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut runner = Runner::new(&plan).unwrap();
    let (x, doubles) = (numbers(&X, 1), vec![0.0f64; 32]);
    type Refused<'a> = (&'a [(&'a str, TensorView<'a>)], Code, &'a str);
    let refused: &[Refused<'_>] = &[
        (&[], Code::InvalidArgument, "input.x"),
        (&[("input.y", view(&x, &X))], Code::NotFound, "input.y"),
        (&[("input.x", view(&x, &X)), ("input.x", view(&x, &X))], Code::InvalidArgument, "twice"),
        (&[("input.x", view(&x, &[4, 8]))], Code::InvalidArgument, ""),
        (&[("input.x", TensorView::new(&doubles, &X).unwrap())], Code::InvalidArgument, ""),
    ];
    for (inputs, code, said) in refused {
        let error = runner.run("step", inputs).err().unwrap();
        assert_eq!(error.code(), *code);
        assert!(error.message().contains(said), "{error}");
    }
    assert_eq!(runner.run("stop", &[]).err().unwrap().code(), Code::NotFound);
    runner.run("step", &[("input.x", view(&x, &X))]).unwrap();
}

#[test]
fn views_are_as_large_as_they_say() {
    let data = numbers(&X, 0);
    for (dims, strides) in
        [(&[8i64, 4][..], &[5i64, 1][..]), (&[8, 4], &[-4, 1]), (&[8, 4], &[4]), (&[-1], &[1])]
    {
        assert_eq!(TensorView::strided(&data, dims, strides).unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(TensorView::new(&data, &[8, 5]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(TensorView::new(&data, &[i64::MAX, 4]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(TensorView::from_bytes(&[0; 3], Dtype::Bf16, &[1]).unwrap_err().code(), Code::InvalidArgument);
    let device = Device::cpu(&Context::new().unwrap()).unwrap();
    let transposed = TensorView::strided(&data, &[4, 8], &[1, 4]).unwrap();
    let copy = Buffer::copy_of(&device, transposed).unwrap().read::<f32>().unwrap();
    assert!((0..4).all(|i| (0..8).all(|j| copy[i * 8 + j] == data[j * 4 + i])));
    let half =
        Buffer::copy_of(&device, TensorView::from_bytes(&[1, 2, 3, 4], Dtype::Bf16, &[2]).unwrap()).unwrap();
    assert_eq!((half.dtype().unwrap(), half.read_bytes().unwrap()), (Dtype::Bf16, vec![1, 2, 3, 4]));
}

#[test]
fn ranks_one_by_one_with_buffers_that_are_reused() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, false);
    let mut executors = executors(&context, &plan);
    let (x, w) = (numbers(&X, 1), numbers(&W, 2));
    let (xs, ws) = (pieces(&plan, "input.x", view(&x, &X)), pieces(&plan, "param.w", view(&w, &W)));
    let entry = plan.find_entry("step").unwrap();
    let order = plan.entry(entry).unwrap().inputs.to_vec();
    let of_x = plan.find_port(None, "input.x").unwrap();
    let inputs = |rank: usize| -> Vec<&Buffer> {
        order.iter().map(|&port| if port == of_x { &xs[rank] } else { &ws[rank] }).collect()
    };
    let (mut events, mut outputs) = (Vec::new(), Vec::new());
    for (rank, executor) in executors.iter_mut().enumerate() {
        let (event, made) = executor.enqueue(Run::new(entry).inputs(&inputs(rank))).unwrap();
        events.push(event);
        outputs.push(made);
    }
    assert!(events.iter().all(|event| event.wait().is_ok() && event.is_done()));
    let (y, next) = expected(&x, &w);
    let of_y = plan.find_port(None, "output.y").unwrap();
    let at = plan.entry(entry).unwrap().outputs.iter().position(|&port| port == of_y).unwrap();
    let ys: Vec<_> = outputs.iter().map(|made| made[at].as_ref().unwrap()).collect();
    assert_eq!(plan.gather(of_y, &ys).unwrap().read::<f32>().unwrap(), y);
    // The output that overwrites the parameter is the same memory.
    let of_w = plan.find_port(None, "param.w").unwrap();
    assert_eq!(plan.gather(of_w, &ws.iter().collect::<Vec<_>>()).unwrap().read::<f32>().unwrap(), next);

    // Once more, into the same outputs.
    for (rank, executor) in executors.iter_mut().enumerate() {
        let given: Vec<_> = outputs[rank].iter().map(Option::as_ref).collect();
        let (event, made) = executor.enqueue(Run::new(entry).inputs(&inputs(rank)).outputs(&given)).unwrap();
        assert!(made.iter().all(Option::is_none));
        events[rank] = event;
    }
    events.iter().for_each(|event| event.wait().unwrap());
    let ys: Vec<_> = outputs.iter().map(|made| made[at].as_ref().unwrap()).collect();
    assert_eq!(plan.gather(of_y, &ys).unwrap().read::<f32>().unwrap(), expected(&x, &next).0);
}

#[test]
fn runs_that_cannot_be_are_refused() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut executors = executors(&context, &plan);
    let x = numbers(&X, 1);
    let xs = pieces(&plan, "input.x", view(&x, &X));
    let refused = |result: shardwise::Result<(Event, Vec<Option<Buffer>>)>| result.err().unwrap().code();
    assert_eq!(refused(executors[0].enqueue(Run::new(0))), Code::InvalidArgument);
    assert_eq!(refused(executors[0].enqueue(Run::new(7).inputs(&[&xs[0]]))), Code::OutOfRange);
    assert_eq!(refused(executors[0].enqueue(Run::new(0).inputs(&[&xs[2]]))), Code::InvalidArgument);
    let state = executors[0].state(plan.find_port(None, "param.w").unwrap()).unwrap();
    assert_eq!(refused(executors[0].enqueue(Run::new(0).inputs(&[&state]))), Code::InvalidArgument);
    // An input as output, though the plan does not overwrite it.
    let run = Run::new(0).inputs(&[&xs[0]]).outputs(&[Some(&xs[0])]);
    assert_eq!(refused(executors[0].enqueue(run)), Code::InvalidArgument);
    let of_other = Session::new(&mut executors[1]).unwrap();
    let run = Run::new(0).inputs(&[&xs[0]]).session(&of_other);
    assert_eq!(refused(executors[0].enqueue(run)), Code::InvalidArgument);
    let world = World::virtual_ranks(&context, 2, &WorldOptions::default()).unwrap();
    let error = Executor::new(&plan, &world, 0, ExecutorOptions::default()).err().unwrap();
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert_eq!(
        Runner::with_options(&plan, Some(&world), ExecutorOptions::default()).err().unwrap().code(),
        error.code()
    );
}

#[test]
fn the_host_does_not_write_under_a_run() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut executors = executors(&context, &plan);
    let x = numbers(&X, 1);
    let xs = pieces(&plan, "input.x", view(&x, &X));
    let state = executors[0].state(plan.find_port(None, "param.w").unwrap()).unwrap();
    // Rank 0 waits for the others: its run cannot end.
    let (event, made) = executors[0].enqueue(Run::new(0).inputs(&[&xs[0]])).unwrap();
    let local = xs[0].read::<f32>().unwrap(); // reading what a run only reads is fine
    assert_eq!(xs[0].write(&local).unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(state.read::<f32>().unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(state.write(&[0.0f32; 16]).unwrap_err().code(), Code::FailedPrecondition);
    let output = made[0].as_ref().unwrap();
    assert_eq!(output.read::<f32>().unwrap_err().code(), Code::FailedPrecondition);
    assert!(!event.wait_timeout(std::time::Duration::from_millis(1)).unwrap());
    // Another executor's run does not get what this one writes, unless it waits for it.
    let taken = Run::new(0).inputs(&[&xs[1]]).outputs(&[Some(output)]);
    assert_eq!(executors[1].enqueue(taken).err().unwrap().code(), Code::FailedPrecondition);

    executors[0].abort();
    assert_eq!(event.wait().unwrap_err().code(), Code::Cancelled);
    xs[0].write(&local).unwrap();
    executors.iter_mut().for_each(Executor::reset);
    let events: Vec<_> = executors
        .iter_mut()
        .zip(&xs)
        .map(|(executor, x)| executor.enqueue(Run::new(0).inputs(&[x])).unwrap())
        .collect();
    events.iter().for_each(|(event, _)| event.wait().unwrap());
}

#[test]
fn abort_ends_what_waits() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let mut executors = executors(&context, &plan);
    let x = numbers(&X, 1);
    let xs = pieces(&plan, "input.x", view(&x, &X));
    let (event, _) = executors[0].enqueue(Run::new(0).inputs(&[&xs[0]])).unwrap();
    let handle = executors[0].abort_handle();
    std::thread::spawn(move || handle.abort());
    assert_eq!(event.wait().unwrap_err().code(), Code::Cancelled);
    let handle = executors[0].abort_handle();
    drop(executors);
    handle.abort(); // of an executor that is gone
}

#[test]
fn dry_runs_count_and_worlds_have_parts() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let device = Device::new(&context, DeviceKind::Null, 0).unwrap();
    let id = World::make_id(&context).unwrap();
    let world = World::from_id(&context, &id, 4, &[0, 1, 2, 3], &WorldOptions::default()).unwrap();
    assert_eq!((world.num_ranks(), world.local_ranks()), (4, vec![0, 1, 2, 3]));
    world.status().unwrap();
    let taken = World::from_id(&context, &id, 4, &[1], &WorldOptions::default()).err().unwrap();
    assert_eq!(taken.code(), Code::AlreadyExists);
    let options = ExecutorOptions { device: Some(device.clone()), ..ExecutorOptions::default() };
    let mut runner = Runner::with_options(&plan, Some(&world), options).unwrap();
    let x = numbers(&X, 1);
    runner.run("step", &[("input.x", view(&x, &X))]).unwrap();
    assert!(device.info().unwrap().num_launches > 0 && !device.info().unwrap().computes);
    let world = World::virtual_ranks(&context, 1, &WorldOptions::default()).unwrap();
    world.abort();
    assert_eq!(world.status().unwrap_err().code(), Code::Cancelled);
}

#[test]
fn results_can_be_judged() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, false);
    let mut runner = Runner::new(&plan).unwrap();
    let (x, w) = (numbers(&X, 3), numbers(&W, 4));
    let y = runner.run("step", &[("input.x", view(&x, &X)), ("param.w", view(&w, &W))]).unwrap();
    let (mut y, next) = (y.read::<f32>("output.y").unwrap(), y.read::<f32>("update.w").unwrap());
    let entry = plan.entry(0).unwrap();
    let name = |port: usize| plan.port(port).unwrap().name.to_owned();
    let judge = |y: &[f32]| {
        let options = VerificationOptions {
            inputs: entry
                .inputs
                .iter()
                .map(|&port| if name(port) == "input.x" { view(&x, &X) } else { view(&w, &W) })
                .collect(),
            outputs: entry
                .outputs
                .iter()
                .map(|&port| Some(if name(port) == "output.y" { view(y, &[8, 16]) } else { view(&next, &W) }))
                .collect(),
            ..VerificationOptions::default()
        };
        Verification::new(&plan, options).unwrap()
    };
    assert_eq!(judge(&y).summary().unwrap().num_wrong, 0);
    y[5] += 1.0;
    let verdict = judge(&y);
    assert_eq!(verdict.summary().unwrap().num_wrong, 1);
    assert_eq!(
        verdict.tensors().unwrap().iter().filter(|tensor| tensor.verdict == Verdict::Right).count(),
        1
    );
    assert!(verdict.to_json().unwrap().contains("wrong") && !verdict.to_text().unwrap().is_empty());
}

#[test]
fn a_run_takes_the_smallest_bucket_that_it_fits_into() {
    let context = Context::new().unwrap();
    let graph = Graph::new(&context).unwrap();
    graph.symbol(&Symbol { name: "n", minimum: 1, maximum: 16, divisor: 1, hint: 16 }).unwrap();
    let x = Input { symbolic_dims: Some("[n,4]"), ..Input::new(Role::Input, "x", Dtype::F32, &[]) };
    let x = graph.add_input(&x).unwrap();
    graph.result("y", (x * 2.0).unwrap()).unwrap();
    let options = CompileOptions::new().mesh(&[("dp", 2)]).buckets(None, "n", &[4, 16]);
    let plan = Plan::compile(&context, &graph.finish().unwrap(), &options).unwrap();
    assert_eq!((plan.symbols().unwrap()[0].name, plan.symbols().unwrap()[0].maximum), ("n", 16));
    let chosen = plan.choose_bucket("step", &[("n", 3)]).unwrap();
    assert_eq!(plan.symbol_sizes(chosen).unwrap(), [Some(4)]);
    assert_eq!(plan.entry(chosen).unwrap().bucket_of, "step");
    assert_eq!(plan.choose_bucket("step", &[("n", 17)]).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(plan.choose_bucket("step", &[("m", 3)]).unwrap_err().code(), Code::InvalidArgument);
    let mut runner = Runner::new(&plan).unwrap();
    let padded = numbers(&[4, 4], 1);
    let outputs =
        runner.run(plan.entry(chosen).unwrap().name, &[("input.x", view(&padded, &[4, 4]))]).unwrap();
    let doubled: Vec<_> = padded.iter().map(|x| 2.0 * x).collect();
    assert_eq!(outputs.read::<f32>("output.y").unwrap(), doubled);
}

/// The way of a large tensor: what the executor gets is the program's memory.
#[test]
fn memory_is_lent_without_a_copy_and_given_back_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Owner(Vec<f32>);
    impl AsMut<[f32]> for Owner {
        fn as_mut(&mut self) -> &mut [f32] {
            &mut self.0
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let context = Context::new().unwrap();
    let device = Device::cpu(&context).unwrap();
    assert!(Buffer::from_owner(&device, Owner(vec![0.0; 4]), &[5]).is_err());
    assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
    let buffer = Buffer::from_owner(&device, Owner(vec![2.0; 4]), &[4]).unwrap();
    buffer.write(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    drop((context, device));
    assert_eq!(buffer.read::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(buffer.read_into(&mut [0.0f32; 3]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
    drop(buffer);
    assert_eq!(DROPPED.load(Ordering::SeqCst), 2);
}

#[test]
fn collectives_are_timed_and_checked() {
    let context = Context::new().unwrap();
    let options = CollectiveBenchOptions {
        mesh: &[("dp", 2), ("tp", 2)],
        group: &["tp"],
        dtype: Some(Dtype::F64),
        max_bytes: Some(4096),
        warm_up: Some(0),
        repeats: Some(2),
        ..CollectiveBenchOptions::default()
    };
    let times = context.bench_collectives(&options).unwrap();
    assert!(times.contains("\"group_size\": 2") && times.contains("\"wrong\": 0"), "{times}");
    let unknown = CollectiveBenchOptions { group: &["pp"], ..options };
    assert_eq!(context.bench_collectives(&unknown).unwrap_err().code(), Code::InvalidArgument);
}
