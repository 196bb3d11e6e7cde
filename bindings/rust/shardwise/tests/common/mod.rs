//! What tests share: a model, and its numbers.

use shardwise::{Blob, CompileOptions, Context, Dtype, Graph, Plan, TensorView};

pub const X: [i64; 2] = [8, 4];
pub const W: [i64; 2] = [4, 16];

/// y = relu(x w), and w -= x^T y in place where the executors keep w.
#[allow(dead_code)]
pub fn graph(context: &Context, state: bool) -> Blob {
    let graph = Graph::new(context).unwrap();
    let x = graph.input("x", Dtype::F32, &X).unwrap();
    let w = match state {
        true => graph.state_parameter("w", Dtype::F32, &W).unwrap(),
        false => graph.parameter("w", Dtype::F32, &W).unwrap(),
    };
    let y = x.matmul(w).unwrap().relu().unwrap();
    graph.result("y", y).unwrap();
    let next = (w - x.t().unwrap().matmul(y).unwrap()).unwrap();
    graph.update_in_place(w, next).unwrap();
    graph.finish().unwrap()
}

/// Ranks with a part of x each: they communicate to update w.
#[allow(dead_code)]
pub fn plan(context: &Context, state: bool) -> Plan {
    let options = CompileOptions::new().mesh(&[("dp", 2), ("tp", 2)]).input_layout("S(0)R");
    Plan::compile(context, &graph(context, state), &options).unwrap()
}

/// Small integers: sums are exact, whatever their order.
#[allow(dead_code)]
pub fn numbers(dims: &[i64], seed: i64) -> Vec<f32> {
    let count: i64 = dims.iter().product();
    (0..count).map(|i| ((i * 7 + seed) % 5 - 2) as f32).collect()
}

/// relu(x w), and what w is afterwards.
#[allow(dead_code)]
pub fn expected(x: &[f32], w: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let (rows, inner, columns) = (X[0] as usize, X[1] as usize, W[1] as usize);
    let mut y = vec![0.0f32; rows * columns];
    for i in 0..rows {
        for j in 0..columns {
            let sum: f32 = (0..inner).map(|k| x[i * inner + k] * w[k * columns + j]).sum();
            y[i * columns + j] = sum.max(0.0);
        }
    }
    let mut next = w.to_vec();
    for k in 0..inner {
        for j in 0..columns {
            next[k * columns + j] -= (0..rows).map(|i| x[i * inner + k] * y[i * columns + j]).sum::<f32>();
        }
    }
    (y, next)
}

#[allow(dead_code)]
pub fn view<'a>(data: &'a [f32], dims: &'a [i64]) -> TensorView<'a> {
    TensorView::new(data, dims).unwrap()
}
