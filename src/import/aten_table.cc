#include "import/aten_table.h"

#include <string>

#include "import/name_lines.h"

namespace shw::import {
namespace {

// Overloads, and the op that they are: name; then, where they differ, arguments, results, kernel
// and fill value (AtenOp). Signatures: aten/src/ATen/native/native_functions.yaml of PyTorch. The
// attention kernels differ in argument order and in what they return besides output and log-sum-exp
// (sequence lengths, debug masks); of these, only the two halves of the generator's state are kept.
constexpr std::string_view kOverloads = R"(
<built-in function getitem>: get_item
aten._conj.default: conj
aten._fused_rms_norm.default: fused_rms_norm
aten._fused_rms_norm_backward.default: fused_rms_norm_backward
aten._grouped_mm.default: grouped_mm
aten._log_softmax.default: log_softmax
aten._log_softmax_backward_data.default: log_softmax_backward_data
aten._scaled_dot_product_cudnn_attention.default: sdpa; query key value bias compute_lse dropout_p is_causal _ scale; 0 1 6 7; cudnn
aten._scaled_dot_product_cudnn_attention_backward.default: sdpa_backward; grad_output query key value out logsumexp seed offset bias _ _ _ _ dropout_p is_causal scale; 0 1 2 -; cudnn
aten._scaled_dot_product_efficient_attention.default: sdpa; query key value bias compute_lse dropout_p is_causal scale; ; efficient
aten._scaled_dot_product_efficient_attention_backward.default: sdpa_backward; grad_output query key value bias out logsumexp seed offset dropout_p output_mask is_causal scale; ; efficient
aten._scaled_dot_product_flash_attention.default: sdpa; query key value dropout_p is_causal _ scale; 0 1 6 7; flash
aten._scaled_dot_product_flash_attention_backward.default: sdpa_backward; grad_output query key value out logsumexp _ _ _ _ dropout_p is_causal seed offset scale; 0 1 2 -; flash
aten._scaled_dot_product_flash_attention_for_cpu.default: sdpa; query key value dropout_p is_causal; 0 1 - -; cpu
aten._scaled_dot_product_flash_attention_for_cpu_backward.default: sdpa_backward; grad_output query key value out logsumexp dropout_p is_causal; 0 1 2 -; cpu
aten._scaled_mm.default: scaled_mm; self mat2 scale_a scale_b bias scale_result dtype use_fast_accum
aten._softmax.default: softmax
aten._softmax_backward_data.default: softmax_backward_data
aten._to_copy.default: to_copy
aten._unsafe_index.Tensor|aten.index.Tensor: index; self indices
aten._unsafe_index_put.default|aten.index_put.default: index_put; self indices values accumulate
aten._unsafe_view.default|aten.reshape.default|aten.view.default: view
aten.abs.default: abs
aten.add.Scalar|aten.add.Tensor: add
aten.addmm.default: addmm
aten.alias.default|aten.detach.default: alias
aten.all.default|aten.all.dim|aten.all.dims: all
aten.amax.default: amax
aten.amin.default: amin
aten.any.default|aten.any.dim|aten.any.dims: any
aten.argmax.default: argmax
aten.argmin.default: argmin
aten.atan2.default: atan2
aten.baddbmm.default: baddbmm
aten.bitwise_and.Scalar|aten.bitwise_and.Tensor: bitwise_and
aten.bitwise_not.default: bitwise_not
aten.bitwise_or.Scalar|aten.bitwise_or.Tensor: bitwise_or
aten.bmm.default: bmm
aten.cat.default: cat
aten.ceil.default: ceil
aten.clamp.default: clamp
aten.clamp_max.default: clamp; self max
aten.clamp_min.default: clamp; self min
aten.clone.default|aten.contiguous.default: clone
aten.constant_pad_nd.default: constant_pad_nd
aten.convolution.default: convolution
aten.convolution_backward.default: convolution_backward
aten.cos.default: cos
aten.cumprod.default: cumprod
aten.cumsum.default: cumsum
aten.div.Scalar|aten.div.Tensor: div
aten.einsum.default: einsum
aten.embedding.default: embedding
aten.embedding_dense_backward.default: embedding_dense_backward
aten.empty.memory_format: full; size dtype layout device pin_memory memory_format; ; ; 0
aten.empty_like.default|aten.zeros_like.default: full_like; self dtype layout device pin_memory memory_format; ; ; 0
aten.eq.Scalar|aten.eq.Tensor: eq
aten.erf.default: erf
aten.exp.default: exp
aten.expand.default: expand
aten.expm1.default: expm1
aten.flip.default: flip
aten.floor.default: floor
aten.floor_divide.Scalar|aten.floor_divide.default: floor_divide
aten.full.default: full
aten.full_like.default: full_like
aten.gather.default: gather
aten.ge.Scalar|aten.ge.Tensor: ge
aten.gelu.default: gelu
aten.gelu_backward.default: gelu_backward
aten.gt.Scalar|aten.gt.Tensor: gt
aten.index_select.default: index_select
aten.le.Scalar|aten.le.Tensor: le
aten.log.default: log
aten.log1p.default: log1p
aten.logical_and.default: logical_and
aten.logical_not.default: logical_not
aten.logical_or.default: logical_or
aten.lt.Scalar|aten.lt.Tensor: lt
aten.masked_fill.Scalar|aten.masked_fill.Tensor: masked_fill
aten.max.default: amax; self
aten.max.dim: max
aten.maximum.default: maximum
aten.mean.default: mean; self dtype
aten.mean.dim: mean
aten.min.default: amin; self
aten.min.dim: min
aten.minimum.default: minimum
aten.mm.default: mm
aten.mul.Scalar|aten.mul.Tensor: mul
aten.native_dropout.default: native_dropout
aten.native_dropout_backward.default: native_dropout_backward
aten.native_layer_norm.default: native_layer_norm
aten.native_layer_norm_backward.default: native_layer_norm_backward
aten.ne.Scalar|aten.ne.Tensor: ne
aten.neg.default: neg
aten.new_empty.default|aten.new_zeros.default: new_full; self size dtype layout device pin_memory; ; ; 0
aten.new_full.default: new_full
aten.new_ones.default: new_full; self size dtype layout device pin_memory; ; ; 1
aten.nll_loss_backward.default: nll_loss_backward
aten.nll_loss_forward.default: nll_loss_forward
aten.ones.default: full; size dtype layout device pin_memory; ; ; 1
aten.ones_like.default: full_like; self dtype layout device pin_memory memory_format; ; ; 1
aten.permute.default: permute
aten.pow.Tensor_Scalar: pow
aten.prod.default: prod; self dtype
aten.prod.dim_int: prod
aten.rand.default: rand; size
aten.rand_like.default: rand_like
aten.randn.default: randn; size
aten.randn_like.default: randn_like
aten.reciprocal.default: reciprocal
aten.relu.default: relu
aten.remainder.Scalar|aten.remainder.Tensor: remainder
aten.repeat.default: repeat
aten.round.default: round
aten.rsqrt.default: rsqrt
aten.scalar_tensor.default: scalar_tensor
aten.scatter.src|aten.scatter.value: scatter
aten.scatter_add.default: scatter_add
aten.select.int: select
aten.select_backward.default: select_backward
aten.select_scatter.default: select_scatter
aten.sigmoid.default: sigmoid
aten.sigmoid_backward.default: sigmoid_backward
aten.sign.default: sign
aten.silu.default: silu
aten.silu_backward.default: silu_backward
aten.sin.default: sin
aten.slice.Tensor: slice
aten.slice_backward.default: slice_backward
aten.slice_scatter.default: slice_scatter
aten.sort.default: sort
aten.sort.stable: sort; self stable dim descending
aten.split.Tensor: split
aten.split_with_sizes.default: split_with_sizes
aten.sqrt.default: sqrt
aten.squeeze.default: squeeze; self
aten.squeeze.dim: squeeze
aten.squeeze.dims: squeeze; self dims
aten.stack.default: stack
aten.sub.Scalar|aten.sub.Tensor: sub
aten.sum.default: sum; self dtype
aten.sum.dim_IntList: sum
aten.t.default: t
aten.tanh.default: tanh
aten.tanh_backward.default: tanh_backward
aten.threshold_backward.default: threshold_backward
aten.topk.default: topk
aten.transpose.int: transpose
aten.tril.default: tril
aten.triu.default: triu
aten.unbind.int: unbind
aten.unsqueeze.default: unsqueeze
aten.var.correction: var
aten.view_as_complex.default: view_as_complex
aten.view_as_real.default: view_as_real
aten.where.self: where
aten.zeros.default: full; size dtype layout device pin_memory; ; ; 0
autoparallel.dtype_cast.default: dtype_cast
prims.convert_element_type.default: convert_element_type
prims.iota.default: iota; length
)";

// "name: op; arguments; results; kernel; fill", without the name.
AtenOp parse(std::string_view target, std::string_view line) {
  const auto field = [&line] {
    line.remove_prefix(std::min<size_t>(2, line.size()));  // ": ", "; "
    const std::string_view f = line.substr(0, line.find(';'));
    line.remove_prefix(f.size());
    return f;
  };
  AtenOp op{.target = target, .op = op_from_name(field()).value_or(OpKind::kCount)};
  op.arguments = field();
  op.results = field();
  op.kernel = field();
  if (const std::string_view fill = field(); !fill.empty()) op.fill = fill[0] - '0';
  return op;
}

}  // namespace

std::optional<AtenOp> find_aten_op(std::string_view target) {
  const std::string_view line = behind_name(kOverloads, target);
  if (line.empty()) return std::nullopt;
  return parse(target, line);
}

std::vector<AtenOp> aten_ops() {
  std::vector<AtenOp> all;
  for_each_name(kOverloads, [&all](std::string_view target, std::string_view line) {
    all.push_back(parse(target, line));
  });
  return all;
}

std::string_view aten_target(const Graph& graph, NodeId node) {
  const std::string own = "aten." + std::string(op_name(graph.op(node))) + ".";
  const auto rank = [&](std::string_view target) {
    return 4 * target.starts_with(own) + 2 * target.ends_with(".Tensor") +
           target.ends_with(".default");
  };
  const std::string_view kernel = graph.attrs(node).get_string(AttrKey::kKernel);
  std::string_view best;
  for_each_name(kOverloads, [&](std::string_view target, std::string_view line) {
    const AtenOp row = parse(target, line);
    if (row.op == graph.op(node) && row.kernel == kernel &&
        (best.empty() || rank(target) > rank(best)))
      best = target;
  });
  return best;
}

}  // namespace shw::import
