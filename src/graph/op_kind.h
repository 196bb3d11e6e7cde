// The closed list of operations that a graph can contain. Names and meanings are those of ATen
// core, without vendor prefix. What each operation does, what it costs, and which layouts it allows
// is in src/ops/<file>.cc. Files store the name, never the number.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace shw {

// X(identifier, name)
#define SHW_OP_KINDS(X)                                 \
  X(Input, "input")                                     \
  X(GetItem, "get_item")                                \
  X(Alias, "alias")                                     \
  X(Mm, "mm")                                           \
  X(Einsum, "einsum")                                   \
  X(Add, "add")                                         \
  X(Sub, "sub")                                         \
  X(Mul, "mul")                                         \
  X(Div, "div")                                         \
  X(Neg, "neg")                                         \
  X(Exp, "exp")                                         \
  X(Sigmoid, "sigmoid")                                 \
  X(Relu, "relu")                                       \
  X(ThresholdBackward, "threshold_backward")            \
  X(Rsqrt, "rsqrt")                                     \
  X(Pow, "pow")                                         \
  X(Conj, "conj")                                       \
  X(ConvertElementType, "convert_element_type")         \
  X(DtypeCast, "dtype_cast")                            \
  X(Clone, "clone")                                     \
  X(Sum, "sum")                                         \
  X(Mean, "mean")                                       \
  X(View, "view")                                       \
  X(Permute, "permute")                                 \
  X(Expand, "expand")                                   \
  X(Squeeze, "squeeze")                                 \
  X(Unsqueeze, "unsqueeze")                             \
  X(ViewAsComplex, "view_as_complex")                   \
  X(ViewAsReal, "view_as_real")                         \
  X(Embedding, "embedding")                             \
  X(EmbeddingDenseBackward, "embedding_dense_backward") \
  X(Sdpa, "sdpa")                                       \
  X(SdpaBackward, "sdpa_backward")                      \
  X(Tanh, "tanh")                                       \
  X(Eq, "eq")                                           \
  X(Ne, "ne")                                           \
  X(Lt, "lt")                                           \
  X(Le, "le")                                           \
  X(Gt, "gt")                                           \
  X(Ge, "ge")                                           \
  X(BitwiseAnd, "bitwise_and")                          \
  X(Where, "where")                                     \
  X(Cumsum, "cumsum")                                   \
  X(Cat, "cat")                                         \
  X(Slice, "slice")                                     \
  X(Split, "split")                                     \
  X(SplitWithSizes, "split_with_sizes")                 \
  X(Index, "index")                                     \
  X(Full, "full")                                       \
  X(Rand, "rand")                                       \
  X(Iota, "iota")                                       \
  X(ScalarTensor, "scalar_tensor")                      \
  X(LayerNorm, "native_layer_norm")                     \
  X(LayerNormBackward, "native_layer_norm_backward")    \
  X(Abs, "abs")                                         \
  X(Sqrt, "sqrt")                                       \
  X(Log, "log")                                         \
  X(Log1p, "log1p")                                     \
  X(Expm1, "expm1")                                     \
  X(Erf, "erf")                                         \
  X(Reciprocal, "reciprocal")                           \
  X(Cos, "cos")                                         \
  X(Sin, "sin")                                         \
  X(Floor, "floor")                                     \
  X(Ceil, "ceil")                                       \
  X(Round, "round")                                     \
  X(Sign, "sign")                                       \
  X(Gelu, "gelu")                                       \
  X(GeluBackward, "gelu_backward")                      \
  X(Silu, "silu")                                       \
  X(SiluBackward, "silu_backward")                      \
  X(SigmoidBackward, "sigmoid_backward")                \
  X(TanhBackward, "tanh_backward")                      \
  X(LogicalNot, "logical_not")                          \
  X(LogicalAnd, "logical_and")                          \
  X(LogicalOr, "logical_or")                            \
  X(BitwiseNot, "bitwise_not")                          \
  X(BitwiseOr, "bitwise_or")                            \
  X(Maximum, "maximum")                                 \
  X(Minimum, "minimum")                                 \
  X(Remainder, "remainder")                             \
  X(FloorDivide, "floor_divide")                        \
  X(Clamp, "clamp")                                     \
  X(MaskedFill, "masked_fill")                          \
  X(ToCopy, "to_copy")                                  \
  X(Amax, "amax")                                       \
  X(Amin, "amin")                                       \
  X(Prod, "prod")                                       \
  X(Any, "any")                                         \
  X(All, "all")                                         \
  X(Var, "var")                                         \
  X(Argmax, "argmax")                                   \
  X(Argmin, "argmin")                                   \
  X(Max, "max")                                         \
  X(Min, "min")                                         \
  X(Softmax, "softmax")                                 \
  X(SoftmaxBackward, "softmax_backward_data")           \
  X(LogSoftmax, "log_softmax")                          \
  X(LogSoftmaxBackward, "log_softmax_backward_data")    \
  X(Cumprod, "cumprod")                                 \
  X(Sort, "sort")                                       \
  X(Topk, "topk")                                       \
  X(Gather, "gather")                                   \
  X(Scatter, "scatter")                                 \
  X(ScatterAdd, "scatter_add")                          \
  X(IndexSelect, "index_select")                        \
  X(IndexPut, "index_put")                              \
  X(Select, "select")                                   \
  X(SelectBackward, "select_backward")                  \
  X(SelectScatter, "select_scatter")                    \
  X(SliceBackward, "slice_backward")                    \
  X(SliceScatter, "slice_scatter")                      \
  X(Pad, "constant_pad_nd")                             \
  X(Stack, "stack")                                     \
  X(Unbind, "unbind")                                   \
  X(Flip, "flip")                                       \
  X(Repeat, "repeat")                                   \
  X(Transpose, "transpose")                             \
  X(T, "t")                                             \
  X(Tril, "tril")                                       \
  X(Triu, "triu")                                       \
  X(FullLike, "full_like")                              \
  X(NewFull, "new_full")                                \
  X(RandLike, "rand_like")                              \
  X(Randn, "randn")                                     \
  X(RandnLike, "randn_like")                            \
  X(Dropout, "native_dropout")                          \
  X(DropoutBackward, "native_dropout_backward")         \
  X(RmsNorm, "fused_rms_norm")                          \
  X(RmsNormBackward, "fused_rms_norm_backward")         \
  X(NllLoss, "nll_loss_forward")                        \
  X(NllLossBackward, "nll_loss_backward")               \
  X(Bmm, "bmm")                                         \
  X(Addmm, "addmm")                                     \
  X(Baddbmm, "baddbmm")                                 \
  X(ScaledMm, "scaled_mm")                              \
  X(GroupedMm, "grouped_mm")                            \
  X(Convolution, "convolution")                         \
  X(ConvolutionBackward, "convolution_backward")        \
  X(PowTensor, "pow_tensor")                            \
  X(Atan2, "atan2")                                     \
  X(ScatterReduce, "scatter_reduce")                    \
  X(LocalMap, "local_map")                              \
  X(ShardingConstraint, "sharding_constraint")          \
  X(SdpaPaged, "sdpa_paged")

enum class OpKind : uint16_t {
#define X(id, name) k##id,
  SHW_OP_KINDS(X)
#undef X
      kCount
};

std::string_view op_name(OpKind op);
std::optional<OpKind> op_from_name(std::string_view name);

}  // namespace shw
