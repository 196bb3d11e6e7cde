// The table of the CUDA backend's kernels. To add a kernel, write its function and add its line
// here.
#include "runtime/cuda/plugin/attention.h"
#include "runtime/cuda/plugin/biased_product.h"
#include "runtime/cuda/plugin/contraction.h"
#include "runtime/cuda/plugin/convolution.h"
#include "runtime/cuda/plugin/draw.h"
#include "runtime/cuda/plugin/elementwise.h"
#include "runtime/cuda/plugin/embedding.h"
#include "runtime/cuda/plugin/extreme.h"
#include "runtime/cuda/plugin/grouped.h"
#include "runtime/cuda/plugin/indexing.h"
#include "runtime/cuda/plugin/loss.h"
#include "runtime/cuda/plugin/move.h"
#include "runtime/cuda/plugin/norm.h"
#include "runtime/cuda/plugin/numbering.h"
#include "runtime/cuda/plugin/padding.h"
#include "runtime/cuda/plugin/paged_attention.h"
#include "runtime/cuda/plugin/pairs.h"
#include "runtime/cuda/plugin/parts.h"
#include "runtime/cuda/plugin/ranking.h"
#include "runtime/cuda/plugin/reduction.h"
#include "runtime/cuda/plugin/running.h"
#include "runtime/cuda/plugin/scaled_product.h"
#include "runtime/cuda/plugin/softmax.h"
#include "runtime/cuda/plugin/sorting.h"

namespace shw::runtime::cuda {
namespace {

using Op = PointwiseOp;
constexpr Defined kAll = Defined::kAll, kOrdered = Defined::kOrdered, kReal = Defined::kReal,
                  kInteger = Defined::kInteger;

constexpr unsigned kContraction = programs(DeviceProgram::pointwise, DeviceProgram::contraction),
                   kConvolution = programs(DeviceProgram::convolution, DeviceProgram::reduction),
                   kAttention = programs(DeviceProgram::attention),
                   kEmbedding = programs(DeviceProgram::embedding),
                   kIndexing = programs(DeviceProgram::indexing),
                   kScatter = programs(DeviceProgram::pointwise, DeviceProgram::indexing) | kSort,
                   kRanking = programs(DeviceProgram::ranking) | kSort,
                   kNumbering = programs(DeviceProgram::numbering),
                   kDraw = programs(DeviceProgram::draw), kPairs = programs(DeviceProgram::pairs),
                   kReduction = programs(DeviceProgram::reduction),
                   kLines = programs(DeviceProgram::lines),
                   kExtreme = programs(DeviceProgram::extreme),
                   kNorm = programs(DeviceProgram::norm), kLoss = programs(DeviceProgram::loss);

constexpr Kernel kTable[] = {
    {"mm", prepare_mm, kContraction},
    {"bmm", prepare_bmm, kContraction},
    {"addmm", prepare_addmm, kContraction},
    {"baddbmm", prepare_baddbmm, kContraction},
    {"einsum", prepare_einsum, kContraction},
    {"scaled_mm", prepare_scaled_mm, kContraction},
    {"grouped_mm", prepare_grouped_mm, programs(DeviceProgram::grouped)},
    {"convolution", prepare_convolution, kConvolution},
    {"convolution_backward", prepare_convolution_backward, kConvolution},
    {"sdpa", prepare_sdpa, kAttention},
    {"sdpa_backward", prepare_sdpa_backward, kAttention},
    {"sdpa_paged", prepare_sdpa_paged, kAttention},
    {"embedding", prepare_embedding, kEmbedding},
    {"embedding_dense_backward", prepare_embedding_backward,
     kEmbedding | kSort | programs(DeviceProgram::pointwise)},
    {"gather", prepare_gather, kIndexing},
    {"index_select", prepare_index_select, kIndexing},
    {"index", prepare_index, kIndexing},
    {"scatter", prepare_scatter, kScatter},
    {"scatter_add", prepare_scatter_add, kScatter},
    {"scatter_reduce", prepare_scatter_reduce, kScatter},
    {"index_put", prepare_index_put, kScatter},
    {"sort", prepare_sort, kRanking},
    {"topk", prepare_topk, kRanking},
    {"iota", prepare_iota, kNumbering},
    {"tril", prepare_tril, kNumbering},
    {"triu", prepare_triu, kNumbering},
    {"rand", prepare_rand, kDraw},
    {"rand_like", prepare_rand_like, kDraw},
    {"randn", prepare_randn, kDraw},
    {"randn_like", prepare_randn_like, kDraw},
    {"native_dropout", prepare_dropout, kDraw},
    {"sum", prepare_sum, kReduction},
    {"mean", prepare_mean, kReduction},
    {"prod", prepare_prod, kReduction},
    {"amax", prepare_amax, kReduction},
    {"amin", prepare_amin, kReduction},
    {"any", prepare_any, kReduction},
    {"all", prepare_all, kReduction},
    {"var", prepare_var, kReduction},
    {"max", prepare_max, kExtreme},
    {"min", prepare_min, kExtreme},
    {"argmax", prepare_argmax, kExtreme},
    {"argmin", prepare_argmin, kExtreme},
    {"softmax", prepare_softmax, kLines},
    {"softmax_backward_data", prepare_softmax_backward, kLines},
    {"log_softmax", prepare_log_softmax, kLines},
    {"log_softmax_backward_data", prepare_log_softmax_backward, kLines},
    {"cumsum", prepare_cumsum, kLines},
    {"cumprod", prepare_cumprod, kLines},
    {"native_layer_norm", prepare_layer_norm, kNorm},
    {"native_layer_norm_backward", prepare_layer_norm_backward, kNorm},
    {"fused_rms_norm", prepare_rms_norm, kNorm},
    {"fused_rms_norm_backward", prepare_rms_norm_backward, kNorm},
    {"nll_loss_forward", prepare_nll_loss, kLoss},
    {"nll_loss_backward", prepare_nll_loss_backward, kLoss},
    {"clone", prepare_move},
    {"to_copy", prepare_move},
    {"convert_element_type", prepare_move},
    {"dtype_cast", prepare_move},
    {"local_slice", prepare_local_slice},
    {"cat", prepare_cat},
    {"stack", prepare_stack},
    {"slice_scatter", prepare_slice_scatter},
    {"slice_backward", prepare_slice_backward},
    {"select_scatter", prepare_select_scatter},
    {"select_backward", prepare_select_backward},
    {"extend", prepare_extend},
    {"fill_padding", prepare_fill_padding},
    {"constant_pad_nd", prepare_pad},
    {"flip", prepare_flip},
    {"repeat", prepare_repeat},
    {"mul_pairs", prepare_mul_pairs, kPairs},
    {"conj_pairs", prepare_conj_pairs, kPairs},
    {"full", prepare_full},
    {"full_like", prepare_full},
    {"new_full", prepare_full},
    {"scalar_tensor", prepare_full},
    {"add", arithmetic<Op::kAdd, kAll>},
    {"sub", arithmetic<Op::kSub, kAll>},
    {"mul", arithmetic<Op::kMul, kAll>},
    {"div", arithmetic<Op::kDiv, kReal>},
    {"maximum", arithmetic<Op::kMaximum, kOrdered>},
    {"minimum", arithmetic<Op::kMinimum, kOrdered>},
    {"pow", prepare_pow},
    {"neg", unary<Op::kNeg, kAll>},
    {"abs", unary<Op::kAbs, kOrdered>},
    {"exp", unary<Op::kExp, kReal>},
    {"log", unary<Op::kLog, kReal>},
    {"cos", unary<Op::kCos, kReal>},
    {"sin", unary<Op::kSin, kReal>},
    {"tanh", unary<Op::kTanh, kReal>},
    {"sqrt", unary<Op::kSqrt, kReal>},
    {"rsqrt", unary<Op::kRsqrt, kReal>},
    {"reciprocal", unary<Op::kReciprocal, kReal>},
    {"sigmoid", unary<Op::kSigmoid, kReal>},
    {"silu", unary<Op::kSilu, kReal>},
    {"relu", unary<Op::kRelu, kOrdered>},
    {"conj", unary<Op::kConj, kAll>},
    {"native_dropout_backward", prepare_dropout_backward},
    {"threshold_backward", binary<Op::kThresholdBackward, kOrdered, AttrKey::kThreshold>},
    {"sigmoid_backward", binary<Op::kSigmoidBackward, kReal>},
    {"tanh_backward", binary<Op::kTanhBackward, kReal>},
    {"silu_backward", binary<Op::kSiluBackward, kReal>},
    {"gelu", prepare_gelu},
    {"gelu_backward", prepare_gelu_backward},
    {"erf", unary<Op::kErf, kReal>},
    {"log1p", unary<Op::kLog1p, kReal>},
    {"expm1", unary<Op::kExpm1, kReal>},
    {"floor", unary<Op::kFloor, kOrdered>},
    {"ceil", unary<Op::kCeil, kOrdered>},
    {"round", unary<Op::kRound, kOrdered>},
    {"sign", unary<Op::kSign, kOrdered>},
    {"remainder", arithmetic<Op::kRemainder, kOrdered>},
    {"floor_divide", arithmetic<Op::kFloorDivide, kOrdered>},
    {"pow_tensor", arithmetic<Op::kPowerTensor, kOrdered>},
    {"atan2", arithmetic<Op::kAtan2, kReal>},
    {"clamp", prepare_clamp},
    {"eq", comparison<Op::kEqual>},
    {"ne", comparison<Op::kNotEqual>},
    {"lt", comparison<Op::kLess>},
    {"le", comparison<Op::kLessEqual>},
    {"gt", comparison<Op::kGreater>},
    {"ge", comparison<Op::kGreaterEqual>},
    {"logical_and", comparison<Op::kLogicalAnd>},
    {"logical_or", comparison<Op::kLogicalOr>},
    {"logical_not", prepare_logical_not},
    {"bitwise_and", arithmetic<Op::kBitwiseAnd, kInteger>},
    {"bitwise_or", arithmetic<Op::kBitwiseOr, kInteger>},
    {"bitwise_not", prepare_bitwise_not},
    {"where", prepare_where},
    {"masked_fill", prepare_masked_fill},
};

}  // namespace

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kTable)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

Status check_float8(const Kernel& kernel, const KernelArgs& args) {
  // The device code of these programs does not support 8-bit floats (load_real).
  constexpr unsigned kWider = kConvolution | kAttention | kReduction | kLines | kNorm | kLoss |
                              kDraw | programs(DeviceProgram::grouped);
  if ((kernel.programs & kWider) == 0 && kernel.name != "embedding_dense_backward") return {};
  for (const auto& tensors : {args.inputs, args.outputs})
    for (const TensorType* t : tensors)
      if (t != nullptr && is_float8(t->dtype))
        return unimplemented("the CUDA backend has no '" + std::string(kernel.name) +
                             "' of 8-bit floats");
  return {};
}

int kernel_number(std::string_view name) { return static_cast<int>(find_kernel(name) - kTable); }

std::string_view kernel_name(int number) { return kTable[number].name; }

}  // namespace shw::runtime::cuda
