//! Training from Rust, on 4 virtual ranks in this process: a network of two layers with its loss,
//! gradients and SGD updates is built by calls, planned for the mesh dp=2,tp=2, saved, loaded and run
//! ten times. The executors keep the parameters, and steps update them in place.
//!
//!   cargo run [PLAN.swplan]     where to save the plan; without: train.swplan
//!
//! Prints the loss of each step. Ends with exit status 0 if it falls in every step. The graph and so
//! the plan are those of examples/c/train.c, byte by byte.

use std::error::Error;
use std::process::ExitCode;

use shardwise::{Blob, CompileOptions, Context, Dtype, Graph, Phase, Plan, Runner, TensorView};

const BATCH: i64 = 32;
const INPUTS: i64 = 16;
const HIDDEN: i64 = 64;
const OUTPUTS: i64 = 8;
const STEPS: usize = 10;

/// loss = mean((relu(x w1) w2 - target)²), and its gradients by hand.
fn build_graph(context: &Context) -> shardwise::Result<Blob> {
    let graph = Graph::new(context)?;
    let w1 = graph.state_parameter("w1", Dtype::F32, &[INPUTS, HIDDEN])?;
    let w2 = graph.state_parameter("w2", Dtype::F32, &[HIDDEN, OUTPUTS])?;
    let x = graph.input("x", Dtype::F32, &[BATCH, INPUTS])?;
    let target = graph.input("target", Dtype::F32, &[BATCH, OUTPUTS])?;

    graph.set_phase(Phase::Forward);
    let h = x.matmul(w1)?;
    let a = h.relu()?;
    let error = (a.matmul(w2)? - target)?;
    graph.result("loss", (error * error)?.mean(&[])?)?;

    graph.set_phase(Phase::Backward);
    let dy = (error * (2.0 / (BATCH * OUTPUTS) as f64))?;
    let dw2 = a.t()?.matmul(dy)?;
    let da = dy.matmul(w2.t()?)?;
    let dh = da.op2("threshold_backward", a, &[("threshold", 0.into())])?;
    let dw1 = x.t()?.matmul(dh)?;
    for (w, gradient) in [(w1, dw1), (w2, dw2)] {
        graph.update_in_place(w, (w - (gradient * 0.5)?)?)?;
    }
    graph.finish()
}

/// Plans the graph, by way of a file.
fn plan(context: &Context, path: &str) -> Result<Plan, Box<dyn Error>> {
    let options = CompileOptions::new().mesh(&[("dp", 2), ("tp", 2)]);
    let plan = Plan::compile(context, &build_graph(context)?, &options)?;
    std::fs::write(path, &*plan.save()?)?;

    let bytes = std::fs::read(path)?;
    let plan = Plan::load(context, &bytes)?;
    println!("plan for {} ranks: {path}, {} bytes", plan.num_ranks(), bytes.len());
    Ok(plan)
}

/// Numbers from -scale to scale, always the same.
fn numbers(count: i64, seed: u32, scale: f32) -> Vec<f32> {
    let mut random = seed.wrapping_mul(2654435761).wrapping_add(1);
    let mut next = || {
        random = random.wrapping_mul(1664525).wrapping_add(1013904223);
        ((random >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale
    };
    (0..count).map(|_| next()).collect()
}

fn train(context: &Context, path: &str) -> Result<bool, Box<dyn Error>> {
    let plan = plan(context, path)?;
    let mut runner = Runner::new(&plan)?;
    let (w1, w2) = (numbers(INPUTS * HIDDEN, 1, 0.4), numbers(HIDDEN * OUTPUTS, 2, 0.2));
    let (x, target) = (numbers(BATCH * INPUTS, 3, 1.0), numbers(BATCH * OUTPUTS, 4, 1.0));
    runner.set_state("param.w1", TensorView::new(&w1, &[INPUTS, HIDDEN])?)?;
    runner.set_state("param.w2", TensorView::new(&w2, &[HIDDEN, OUTPUTS])?)?;

    let (mut falls, mut before) = (true, f32::INFINITY);
    for step in 0..STEPS {
        let outputs = runner.run(
            "step",
            &[
                ("input.x", TensorView::new(&x, &[BATCH, INPUTS])?),
                ("input.target", TensorView::new(&target, &[BATCH, OUTPUTS])?),
            ],
        )?;
        let loss = outputs.read::<f32>("output.loss")?[0];
        println!("step {step:2}  loss {loss:.6}");
        falls &= loss < before;
        before = loss;
    }
    Ok(falls)
}

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "train.swplan".into());
    let trained = Context::new().map_err(Into::into).and_then(|context| train(&context, &path));
    match trained {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("train: {why}"); // the code, the cause, and the node at fault
            ExitCode::FAILURE
        }
    }
}
