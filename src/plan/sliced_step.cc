#include "plan/sliced_step.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shw {
namespace {

// Element by element, with broadcasting; sorted.
constexpr std::array kPointwise = std::to_array<std::string_view>({"abs",
                                                                   "add",
                                                                   "atan2",
                                                                   "bitwise_and",
                                                                   "bitwise_not",
                                                                   "bitwise_or",
                                                                   "ceil",
                                                                   "clamp",
                                                                   "clone",
                                                                   "convert_element_type",
                                                                   "cos",
                                                                   "div",
                                                                   "dtype_cast",
                                                                   "eq",
                                                                   "erf",
                                                                   "exp",
                                                                   "expm1",
                                                                   "floor",
                                                                   "floor_divide",
                                                                   "full",
                                                                   "full_like",
                                                                   "ge",
                                                                   "gelu",
                                                                   "gelu_backward",
                                                                   "gt",
                                                                   "le",
                                                                   "log",
                                                                   "log1p",
                                                                   "logical_and",
                                                                   "logical_not",
                                                                   "logical_or",
                                                                   "lt",
                                                                   "masked_fill",
                                                                   "maximum",
                                                                   "minimum",
                                                                   "mul",
                                                                   "ne",
                                                                   "neg",
                                                                   "pow",
                                                                   "pow_tensor",
                                                                   "reciprocal",
                                                                   "relu",
                                                                   "remainder",
                                                                   "round",
                                                                   "rsqrt",
                                                                   "sigmoid",
                                                                   "sigmoid_backward",
                                                                   "sign",
                                                                   "silu",
                                                                   "silu_backward",
                                                                   "sin",
                                                                   "sqrt",
                                                                   "sub",
                                                                   "tanh",
                                                                   "tanh_backward",
                                                                   "threshold_backward",
                                                                   "to_copy",
                                                                   "where"});
// Along attribute `dim` or `dims`; operands have the same dims before it.
constexpr std::array kAlongDims = std::to_array<std::string_view>(
    {"amax", "amin", "cat", "mean", "prod", "slice_scatter", "sum", "var"});

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

const TensorType* type_of(const Program& program, ValueId value) {
  return value.valid() ? &program.values[value].type : nullptr;
}

// Counts the attribute's dims from the end, where slices keep them. Gives the first of them counted
// from the begin; `rank`: there is none. -1: all dims.
int64_t count_from_end(Attrs& attrs, int64_t rank) {
  int64_t first = rank;
  const auto from_end = [&](int64_t d) {
    if (d >= 0) d -= rank;
    first = std::min(first, d + rank);
    return d;
  };
  if (attrs.has(AttrKey::kDim))
    attrs.set(AttrKey::kDim, from_end(attrs.get_int(AttrKey::kDim, 0)));
  else if (std::vector<int64_t> dims = attrs.get_ints(AttrKey::kDims); !dims.empty()) {
    for (int64_t& d : dims) d = from_end(d);
    attrs.set(AttrKey::kDims, std::move(dims));
  } else {
    return -1;
  }
  return first;
}

bool cut_operands(const Program& program, const std::vector<ValueId>& values, const Dims* shape,
                  int64_t first_dim, const SliceLoops& loops, std::vector<Slice>& slices) {
  for (const ValueId value : values) {
    slices.emplace_back();
    const TensorType* type = type_of(program, value);
    if (type == nullptr) continue;
    const auto slice = slice_of(*type, shape != nullptr ? *shape : type->shape, loops);
    if (!slice || (first_dim >= 0 && slice->dims_cut > static_cast<size_t>(first_dim)))
      return false;
    slices.back() = *slice;
  }
  return true;
}

}  // namespace

bool is_pointwise(const ProgramStep& step) {
  return step.outputs.size() == 1 && step.outputs[0].valid() && is_in(kPointwise, step.kernel);
}

Dims loop_shape(const Program& program, const ProgramStep& step) {
  const bool along = is_in(kAlongDims, step.kernel);
  if (runs_on_link(program, step) || step.outputs.size() != 1 ||
      step.inputs.size() >= kMostSlicedOperands || !step.outputs[0].valid() ||
      (!along && !is_in(kPointwise, step.kernel)))
    return {};
  const TensorType& out = program.values[step.outputs[0]].type;
  const TensorType* in = step.inputs.empty() ? nullptr : type_of(program, step.inputs[0]);
  return along && in != nullptr && in->numel() > out.numel() ? in->shape : out.shape;
}

std::optional<SlicedStep> slice_step(const Program& program, const ProgramStep& step,
                                     const SliceLoops& loops) {
  SlicedStep sliced;
  sliced.attrs = step.attrs;
  if (is_in(kPointwise, step.kernel)) {
    const Dims& shape = program.values[step.outputs[0]].type.shape;
    if (!cut_operands(program, step.inputs, &shape, -1, loops, sliced.inputs) ||
        !cut_operands(program, step.outputs, &shape, -1, loops, sliced.outputs))
      return {};
    return sliced;
  }
  const TensorType* in = step.inputs.empty() ? nullptr : type_of(program, step.inputs[0]);
  if (!is_in(kAlongDims, step.kernel) || in == nullptr) return {};
  const int64_t first = count_from_end(sliced.attrs, in->rank());
  if (first < 0 || !cut_operands(program, step.inputs, nullptr, first, loops, sliced.inputs) ||
      !cut_operands(program, step.outputs, nullptr, first, loops, sliced.outputs))
    return {};
  return sliced;
}

}  // namespace shw
