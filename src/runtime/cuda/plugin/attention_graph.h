// Attention and its gradients as graphs of operations that cuDNN knows as attention, and computes
// by one kernel, or a few, without the scores ever lying in memory. Source: the forms of these
// graphs, in NVIDIA's documentation of cuDNN 9 (fused attention).
#pragma once
#include <memory>

#include "runtime/cuda/plugin/cudnn_graph.h"
#include "runtime/cuda/plugin/kernels/arguments.h"

namespace shw::runtime::cuda {

// Whether such graphs say what is wanted: operands of f16 or bf16 with rows of up to 128 elements,
// no bias, all keys visible or those up to the query's position.
bool is_attention_graph(const AttentionArguments& arguments);
bool is_attention_graph(const AttentionBackwardArguments& arguments);

// Memory in the order of run(): q, k, v, out; and lse, if `has_lse`.
std::unique_ptr<CudnnGraph> attention_graph(const Cudnn& api, const AttentionArguments& arguments,
                                            bool has_lse);
// Likewise: q, k, v, out, grad, lse; dq, dk, dv; rows of f32, [batch, heads, queries]; and dq in
// f32, [batch, heads, queries, width]. Blocks add up dq in the order in which they come, so its
// bits differ from run to run.
std::unique_ptr<CudnnGraph> attention_gradient_graph(const Cudnn& api,
                                                     const AttentionBackwardArguments& arguments);

}  // namespace shw::runtime::cuda
