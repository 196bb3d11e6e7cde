//! What threads share, and what lives how long.

mod common;

use common::{expected, numbers, view, W, X};
use shardwise::{
    Blob, Buffer, Cancel, Context, Device, Error, Event, Executor, Graph, Plan, Planner, Region, Runner,
    Session, Task, World,
};

#[test]
fn types_go_where_the_headers_allow() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<(Context, Blob, Plan, Buffer, Cancel, Device, World, Event, Session, Error)>();
    sync::<(Context, Blob, Plan, Buffer, Cancel, Device, World, Event, Session, Error)>();
    send::<(Graph, Planner, Executor, Runner, Region, Task)>();
}

#[test]
fn one_plan_in_many_threads() {
    let context = Context::new().unwrap();
    let plan = common::plan(&context, true);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (context, plan) = (&context, &plan);
            scope.spawn(move || {
                assert_eq!(*common::plan(context, true).save().unwrap(), *plan.save().unwrap());
                let mut runner = Runner::new(plan).unwrap();
                let (x, w) = (numbers(&X, seed), numbers(&W, seed + 1));
                runner.set_state("param.w", view(&w, &W)).unwrap();
                let outputs = runner.run("step", &[("input.x", view(&x, &X))]).unwrap();
                assert_eq!(outputs.read::<f32>("output.y").unwrap(), expected(&x, &w).0);
            });
        }
    });
}

#[test]
fn threads_share_a_buffer() {
    let device = Device::cpu(&Context::new().unwrap()).unwrap();
    let buffer = Buffer::zeros(&device, shardwise::Dtype::I64, &[64]).unwrap();
    std::thread::scope(|scope| {
        for value in 0..4i64 {
            let buffer = &buffer;
            scope.spawn(move || {
                for _ in 0..200 {
                    buffer.write(&[value; 64]).unwrap();
                    let seen = buffer.read::<i64>().unwrap();
                    assert!(seen.iter().all(|element| *element == seen[0]), "a torn read: {seen:?}");
                }
            });
        }
    });
}

#[test]
fn objects_outlive_what_they_were_made_of() {
    let context = Context::new().unwrap();
    let graph = common::graph(&context, true);
    let plan = common::plan(&context, true);
    let world = World::virtual_ranks(&context, 4, &Default::default()).unwrap();
    let mut executors: Vec<_> =
        (0..4).map(|rank| Executor::new(&plan, &world, rank, Default::default()).unwrap()).collect();
    let session = Session::new(&mut executors[0]).unwrap();
    let state = executors[0].state(plan.find_port(None, "param.w").unwrap()).unwrap();
    drop((context, graph, plan, world));
    drop(executors);
    assert!(state.read::<f32>().unwrap().iter().all(|value| *value == 0.0));
    drop((session, state));
}
