// Attention and its gradients as graphs of operations that cuDNN recognises as attention. cuDNN
// computes them with one kernel, or a few, and never stores the scores in memory. Source: the forms
// of these graphs, in NVIDIA's documentation of cuDNN 9 (fused attention).
#pragma once
#include <memory>

#include "runtime/cuda/plugin/cudnn_graph.h"
#include "runtime/cuda/plugin/kernels/arguments.h"

namespace shw::runtime::cuda {

// Whether such graphs can express the attention: f16 or bf16 operands with rows of up to 128
// elements, no bias, and either all keys visible or those up to the query's position.
bool is_attention_graph(const AttentionArguments& arguments);
bool is_attention_graph(const AttentionBackwardArguments& arguments);

// The memory arguments of run(), in order: q, k, v, out; and lse, if `has_lse`.
std::unique_ptr<CudnnGraph> attention_graph(const Cudnn& api, const AttentionArguments& arguments,
                                            bool has_lse);
// Memory arguments: q, k, v, out, grad, lse; dq, dk, dv; rows of f32, [batch, heads, queries]; and
// dq in f32, [batch, heads, queries, width]. Blocks add to dq in the order in which they run, so
// its bits differ from run to run.
std::unique_ptr<CudnnGraph> attention_gradient_graph(const Cudnn& api,
                                                     const AttentionBackwardArguments& arguments);

}  // namespace shw::runtime::cuda
