// Attributes of an operation: its arguments that are not tensors. They are a short list sorted by
// key. Keys are a closed set, stored by number in memory and by name in every file format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/dtype.h"

namespace shw {

// X(identifier, name). The ops that use a name define its meaning (src/ops).
#define SHW_ATTR_KEYS(X)                   \
  X(Dim, "dim")                            \
  X(Dims, "dims")                          \
  X(KeepDim, "keepdim")                    \
  X(Dtype, "dtype")                        \
  X(Size, "size")                          \
  X(Self, "self")                          \
  X(Other, "other")                        \
  X(Exponent, "exponent")                  \
  X(Threshold, "threshold")                \
  X(Alpha, "alpha")                        \
  X(Equation, "equation")                  \
  X(Index, "index")                        \
  X(Start, "start")                        \
  X(End, "end")                            \
  X(Step, "step")                          \
  X(Kernel, "kernel")                      \
  X(Causal, "is_causal")                   \
  X(Scale, "scale")                        \
  X(DropoutP, "dropout_p")                 \
  X(ComputeLse, "compute_lse")             \
  X(OutputMask, "output_mask")             \
  X(PaddingIdx, "padding_idx")             \
  X(NumWeights, "num_weights")             \
  X(ScaleGradByFreq, "scale_grad_by_freq") \
  X(Sparse, "sparse")                      \
  X(MemoryFormat, "memory_format")         \
  X(FillValue, "fill_value")               \
  X(Length, "length")                      \
  X(SplitSize, "split_size")               \
  X(SplitSizes, "split_sizes")             \
  X(NormalizedShape, "normalized_shape")   \
  X(Eps, "eps")                            \
  X(Seed, "seed")                          \
  X(Cuts, "cuts")                          \
  X(Value, "value")                        \
  X(Src, "src")                            \
  X(Min, "min")                            \
  X(Max, "max")                            \
  X(Approximate, "approximate")            \
  X(Correction, "correction")              \
  X(HalfToFloat, "half_to_float")          \
  X(InputDtype, "input_dtype")             \
  X(Descending, "descending")              \
  X(Stable, "stable")                      \
  X(Largest, "largest")                    \
  X(Sorted, "sorted")                      \
  X(K, "k")                                \
  X(SparseGrad, "sparse_grad")             \
  X(Accumulate, "accumulate")              \
  X(InputSizes, "input_sizes")             \
  X(Pad, "pad")                            \
  X(Dim0, "dim0")                          \
  X(Dim1, "dim1")                          \
  X(Repeats, "repeats")                    \
  X(Diagonal, "diagonal")                  \
  X(P, "p")                                \
  X(Train, "train")                        \
  X(Reduction, "reduction")                \
  X(IgnoreIndex, "ignore_index")           \
  X(Beta, "beta")                          \
  X(Stride, "stride")                      \
  X(Padding, "padding")                    \
  X(Dilation, "dilation")                  \
  X(Transposed, "transposed")              \
  X(OutputPadding, "output_padding")       \
  X(Groups, "groups")                      \
  X(BiasSizes, "bias_sizes")               \
  X(Region, "region")                      \
  X(InPlacements, "in_placements")         \
  X(OutPlacements, "out_placements")       \
  X(ResultTypes, "result_types")           \
  X(Placements, "placements")              \
  X(Flops, "flops")                        \
  X(Reduce, "reduce")                      \
  X(WindowLeft, "window_left")             \
  X(WindowRight, "window_right")

enum class AttrKey : uint16_t {
#define X(id, name) k##id,
  SHW_ATTR_KEYS(X)
#undef X
      kCount
};

std::string_view attr_key_name(AttrKey key);
std::optional<AttrKey> attr_key_from_name(std::string_view name);

using AttrVariant = std::variant<int64_t, double, bool, Dtype, std::vector<int64_t>, std::string>;
// A variant that can be copied safely when memory runs out. If copying a std::variant throws, GCC
// 12's library destroys the value that was never constructed, because it assumes that variants of
// such types always hold a value.
struct AttrValue : AttrVariant {
  using AttrVariant::AttrVariant;
  AttrValue(const AttrValue& other)
      : AttrVariant(std::visit([](const auto& v) { return AttrVariant(v); },
                               static_cast<const AttrVariant&>(other))) {}
  AttrValue(AttrValue&&) noexcept = default;
  AttrValue& operator=(const AttrValue& other) { return *this = AttrValue(other); }
  AttrValue& operator=(AttrValue&&) noexcept = default;
  ~AttrValue() = default;
};
std::string to_string(const AttrValue& value);  // 3, 0.5, true, bf16, [1,0], "abk,kn->abn"

class Attrs {
 public:
  using Item = std::pair<AttrKey, AttrValue>;
  void set(AttrKey key, AttrValue value);
  void erase(AttrKey key);
  const AttrValue* find(AttrKey key) const;
  bool has(AttrKey key) const { return find(key) != nullptr; }

  // The value, or `otherwise` if the key is absent or its value is of another kind. (Kinds are
  // checked when a graph is read.)
  int64_t get_int(AttrKey key, int64_t otherwise) const;
  double get_number(AttrKey key, double otherwise) const;  // an int or a float
  bool get_bool(AttrKey key, bool otherwise) const;
  Dtype get_dtype(AttrKey key, Dtype otherwise) const;
  const std::vector<int64_t>& get_ints(AttrKey key) const;  // empty where absent
  std::string_view get_string(AttrKey key) const;           // empty where absent

  const std::vector<Item>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  bool operator==(const Attrs&) const = default;

 private:
  std::vector<Item> items_;
};

uint64_t hash_of(const Attrs& attrs);

}  // namespace shw
