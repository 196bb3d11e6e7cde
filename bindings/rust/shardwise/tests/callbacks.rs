//! What the library calls: closures that panic, allocators, logs, threads of the host.
#![deny(unsafe_op_in_unsafe_fn)]

mod common;

use std::alloc::Layout;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::task::{Poll, Wake};

use common::{expected, numbers, view, W, X};
use shardwise::{
    Allocator, Attr, Changes, Code, CompileOptions, Context, ContextOptions, Device, Dtype, Executor,
    ExecutorOptions, Flow, Graph, LogLevel, Plan, Planner, Region, Run, Runner, Search, SearchOptions, Task,
    World, WorldOptions,
};

fn mesh() -> CompileOptions {
    CompileOptions::new().mesh(&[("dp", 2), ("tp", 2)])
}

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    panic.downcast_ref::<&str>().map(|said| said.to_string()).unwrap_or_default()
}

#[test]
fn a_panic_of_progress_comes_back() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let compile = || Plan::compile_with_progress(&context, &graph, &mesh(), |_| panic!("enough"));
    assert_eq!(message(catch_unwind(AssertUnwindSafe(compile)).unwrap_err()), "enough");
    let mut planner = Planner::new(&context, &graph, &mesh()).unwrap();
    let ask = || planner.compile(Changes::new().progress(|_| panic!("enough")));
    assert_eq!(message(catch_unwind(AssertUnwindSafe(ask)).unwrap_err()), "enough");
    planner.compile(Changes::new()).unwrap();
}

/// y = body(x), with x divided over two ranks.
fn region_plan(context: &Context, groups: &str) -> Plan {
    let graph = Graph::new(context).unwrap();
    let x = graph.input("x", Dtype::F32, &[4, 2]).unwrap();
    let attrs: &[(&str, Attr)] = &[
        ("region", "double".into()),
        ("in_placements", "S(0)".into()),
        ("out_placements", "S(0)".into()),
        ("result_types", "f32[4,2]".into()),
        ("groups", groups.into()),
    ];
    let y = match graph.op("local_map", &[Some(x)], attrs) {
        Ok(y) => y,
        Err(why) => panic!("{why}; {:?}", shardwise::Op::find("local_map").unwrap().params().unwrap()),
    };
    graph.result("y", y).unwrap();
    Plan::compile(context, &graph.finish().unwrap(), &CompileOptions::new().mesh(&[("dp", 2)])).unwrap()
}

fn region_runner(plan: &Plan, region: &Region) -> Runner {
    let options = ExecutorOptions { regions: vec![region.clone()], ..Default::default() };
    Runner::with_options(plan, None, options).unwrap()
}

#[test]
fn regions_run_in_rust_and_their_panics_come_back() {
    let context = Context::new().unwrap();
    let plan = region_plan(&context, "");
    let mode = Arc::new(AtomicUsize::new(0));
    let wanted = mode.clone();
    let region = Region::new("double", move |call| {
        match wanted.load(Ordering::SeqCst) {
            1 => return Err(Code::DataLoss),
            2 if call.rank() == 1 => panic!("no body"),
            _ => {}
        }
        let x = call.input(0).ok_or(Code::Internal)?.to_vec::<f32>().ok_or(Code::Internal)?;
        assert_eq!(
            (call.region(), call.mesh(), call.coordinates()[0]),
            ("double", &[2i64][..], call.rank() as i64)
        );
        let y = call.output::<f32>(0).ok_or(Code::Internal)?;
        y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
        Ok(())
    })
    .unwrap();
    let mut runner = region_runner(&plan, &region);
    let x = numbers(&[4, 2], 1);
    let mut run = |kind| {
        mode.store(kind, Ordering::SeqCst);
        let outputs = runner.run("step", &[("input.x", view(&x, &[4, 2]))])?;
        outputs.read::<f32>("output.y")
    };
    let doubled: Vec<_> = x.iter().map(|x| 2.0 * x).collect();
    assert_eq!(run(0).unwrap(), doubled);
    assert_eq!(run(1).unwrap_err().code(), Code::DataLoss);
    assert_eq!(run(0).unwrap(), doubled);
    assert_eq!(message(catch_unwind(AssertUnwindSafe(|| run(2))).unwrap_err()), "no body");

    let world = World::virtual_ranks(&context, 2, &WorldOptions::default()).unwrap();
    let bodiless = Executor::new(&plan, &world, 0, ExecutorOptions::default()).err().unwrap();
    assert_eq!(bodiless.code(), Code::Unimplemented);
}

#[test]
fn bodies_of_regions_exchange_data() {
    let context = Context::new().unwrap();
    let plan = region_plan(&context, "dp");
    let region = Region::new("double", |call| {
        let mut group = call.group(0).ok_or(Code::Internal)?;
        assert!(call.group(1).is_none());
        let x = call.input(0).and_then(|x| x.to_vec::<f32>()).ok_or(Code::Internal)?;
        // Rank 0 keeps one element and sends three, rank 1 sends all four.
        let me = group.member();
        let (sends, mut expects) = ([[1i64, 3], [4, 0]][me], [0i64; 2]);
        group.all_to_all(&sends, &mut expects)?;
        assert_eq!((group.size(), expects), (2, [[1, 4], [3, 0]][me]));
        let mut came = vec![0f32; expects.iter().sum::<i64>() as usize];
        group.all_to_all_v(&x, &sends, &mut came, &expects)?;
        came.iter_mut().for_each(|value| *value *= 2.0);
        group.all_to_all_v(&came, &expects, call.output(0).ok_or(Code::Internal)?, &sends)?;
        let (mut both, mut part, mut top) = ([0i32; 2], [0i64], [me as f64]);
        group.all_gather(&[me as i32], &mut both)?;
        group.reduce_scatter(&sends, &mut part, "sum")?;
        group.all_reduce(&mut top, "max")?;
        assert_eq!((both, part, top), ([0, 1], [[5], [3]][me], [1.0]));
        let short = group.all_gather(&[1i32], &mut [0i32]).unwrap_err();
        assert_eq!(short.message(), "1 elements to be received, not 2");
        Ok(())
    })
    .unwrap();
    let x = numbers(&[4, 2], 1);
    let mut runner = region_runner(&plan, &region);
    let outputs = runner.run("step", &[("input.x", view(&x, &[4, 2]))]).unwrap();
    let doubled: Vec<_> = x.iter().map(|x| 2.0 * x).collect();
    assert_eq!(outputs.read::<f32>("output.y").unwrap(), doubled);

    // Ranks that call different collectives.
    let region = Region::new("double", |call| {
        let mut group = call.group(0).ok_or(Code::Internal)?;
        match call.rank() {
            0 => group.all_reduce(&mut [1i64], "sum")?,
            _ => group.all_gather(&[1i64], &mut [0; 2])?,
        }
        Ok(())
    })
    .unwrap();
    let mut runner = region_runner(&plan, &region);
    let error = runner.run("step", &[("input.x", view(&x, &[4, 2]))]).err().unwrap();
    assert!(error.message().contains("the ranks diverged"), "{error}");
}

struct Counting(Arc<AtomicIsize>);

// SAFETY: hands on to the system's allocator.
unsafe impl Allocator for Counting {
    fn allocate(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::SeqCst);
        // SAFETY: the library asks for no empty memory.
        unsafe { std::alloc::alloc(layout) }
    }

    unsafe fn free(&self, memory: *mut u8, layout: Layout) {
        self.0.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: as the caller says.
        unsafe { std::alloc::dealloc(memory, layout) }
    }
}

#[test]
fn memory_log_and_threads_of_the_host() {
    let (live, submitted_in_all) = (Arc::new(AtomicIsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let (send, receive) = mpsc::channel::<Task>();
    let send = Mutex::new(send);
    let worker = std::thread::spawn(move || receive.into_iter().map(Task::run).count());
    let (submitted, logged) = (submitted_in_all.clone(), lines.clone());
    let context = ContextOptions::new()
        .allocator(Counting(live.clone()))
        .log(LogLevel::Debug, move |level, message, _file, _line| {
            logged.lock().unwrap().push((level, message.to_owned()));
            panic!("the log"); // which is dropped
        })
        .threads(move |task| match submitted.fetch_add(1, Ordering::SeqCst) % 3 {
            0 => Err(task),
            1 => send.lock().unwrap().send(task).map_err(|unsent| unsent.0),
            _ => panic!("the threads"), // runs the task first
        })
        .create()
        .unwrap();
    let plan = common::plan(&context, true);
    let alone = common::plan(&Context::new().unwrap(), true);
    assert_eq!(*plan.save().unwrap(), *alone.save().unwrap());
    let wanted = SearchOptions { num_devices: 8, num_threads: 4, ..SearchOptions::default() };
    Search::new(&context, &common::graph(&context, true), &CompileOptions::new(), &wanted).unwrap();
    assert!(submitted_in_all.load(Ordering::SeqCst) > 0);
    let mut runner = Runner::new(&plan).unwrap();
    drop(context); // which what was made in it holds
    let (x, w) = (numbers(&X, 2), numbers(&W, 1));
    runner.set_state("param.w", view(&w, &W)).unwrap();
    let outputs = runner.run("step", &[("input.x", view(&x, &X))]).unwrap();
    assert_eq!(outputs.read::<f32>("output.y").unwrap(), expected(&x, &w).0);
    assert!(live.load(Ordering::SeqCst) > 0);
    drop((outputs, runner, plan));
    assert_eq!(live.load(Ordering::SeqCst), 0, "what was allocated was freed");
    worker.join().unwrap();
    println!("{:?}", lines.lock().unwrap());
}

/// Allocators live as long as anything that uses them, whatever is dropped first.
#[test]
fn contexts_of_their_own_for_plan_world_and_tensors() {
    let counts: Vec<_> = (0..3).map(|_| Arc::new(AtomicIsize::new(0))).collect();
    let contexts: Vec<_> = counts
        .iter()
        .map(|count| ContextOptions::new().allocator(Counting(count.clone())).create().unwrap())
        .collect();
    let plan = common::plan(&contexts[0], true);
    let world = World::virtual_ranks(&contexts[1], 4, &WorldOptions::default()).unwrap();
    let device = Device::cpu(&contexts[2]).unwrap();
    let (x, port) = (numbers(&X, 1), plan.find_port(None, "input.x").unwrap());
    let mut pieces: Vec<_> =
        (0..4).map(|rank| plan.shard(port, rank, view(&x, &X), Some(&device)).unwrap()).collect();
    let mut executors: Vec<_> =
        (0..4).map(|rank| Executor::new(&plan, &world, rank, ExecutorOptions::default()).unwrap()).collect();
    drop((contexts, device, plan, world));
    let runs: Vec<_> = executors
        .iter_mut()
        .map(|executor| executor.enqueue(Run::new(0).inputs(&[&pieces.remove(0)])).unwrap()) // dropped under the run
        .collect();
    runs.iter().for_each(|(event, _)| event.wait().unwrap());
    drop(executors);
    let output = runs.into_iter().flat_map(|(_, made)| made).flatten().next().unwrap();
    assert_eq!(output.read::<f32>().unwrap().len(), output.dims().unwrap().iter().product::<i64>() as usize);
    drop(output);
    for count in counts {
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut task = std::task::Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut task) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn runs_of_a_runner_are_awaited() {
    let context = Context::new().unwrap();
    let mut runner = Runner::new(&common::plan(&context, true)).unwrap();
    let (x, w) = (numbers(&X, 1), numbers(&W, 2));
    runner.set_state("param.w", view(&w, &W)).unwrap();
    let (first, next) = expected(&x, &w);
    let (send, receive) = mpsc::channel();
    block_on(async {
        let start = |runner: &mut Runner| runner.start("step", &[("input.x", view(&x, &X))]);
        let pending = [start(&mut runner)?, start(&mut runner)?];
        pending[1].on_done(move |code| send.send(code).unwrap())?;
        let [one, two] = pending;
        assert_eq!(two.await?.read::<f32>("output.y")?, expected(&x, &next).0);
        assert_eq!(one.await?.read::<f32>("output.y")?, first);
        drop(start(&mut runner)?); // does not stop it
        let last = start(&mut runner)?;
        runner.abort();
        if let Err(why) = last.await {
            assert_eq!(why.code(), Code::Cancelled); // unless it was faster
        }
        start(&mut runner)?.await
    })
    .unwrap();
    assert_eq!(receive.recv().unwrap(), None);
}

#[test]
fn the_end_of_a_run_is_a_future_and_a_callback() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    let world = World::virtual_ranks(&context, 4, &WorldOptions::default()).unwrap();
    let x = numbers(&X, 1);
    let (send, receive) = mpsc::channel();
    let mut events = Vec::new();
    let mut executors: Vec<_> =
        (0..4).map(|rank| Executor::new(&plan, &world, rank, ExecutorOptions::default()).unwrap()).collect();
    let port = plan.find_port(None, "input.x").unwrap();
    for (rank, executor) in executors.iter_mut().enumerate() {
        let piece = plan.shard(port, rank, view(&x, &X), None).unwrap();
        let (event, _) = executor.enqueue(Run::new(0).inputs(&[&piece])).unwrap();
        let send = send.clone();
        event
            .on_done(move |code| {
                send.send((rank, code)).unwrap();
                panic!("the end"); // which is dropped
            })
            .unwrap();
        events.push(event);
    }
    for event in events {
        block_on(event).unwrap();
    }
    let mut told: Vec<_> = receive.into_iter().take(4).collect();
    told.sort_by_key(|(rank, _)| *rank);
    assert_eq!(told, [(0, None), (1, None), (2, None), (3, None)]);
}

#[test]
fn cancelling_from_progress_is_no_panic() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, false);
    let mut planner = Planner::new(&context, &graph, &mesh()).unwrap();
    let error = planner.compile(Changes::new().progress(|_| Flow::Cancel)).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
}
