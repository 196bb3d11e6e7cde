// The closed list of operations that a graph can contain. Names and meaning are those of ATen core,
// without vendor prefix; what each one does, costs and allows is in src/ops/<file>.cc. Files store
// the name, never the number.
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
  X(LayerNormBackward, "native_layer_norm_backward")

enum class OpKind : uint16_t {
#define X(id, name) k##id,
  SHW_OP_KINDS(X)
#undef X
      kCount
};

std::string_view op_name(OpKind op);
std::optional<OpKind> op_from_name(std::string_view name);

}  // namespace shw
