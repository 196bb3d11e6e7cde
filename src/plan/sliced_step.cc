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

// Along attribute `dim`, at one place of each line, given by an index tensor.
constexpr std::array kAtOnePlace = std::to_array<std::string_view>({"gather", "scatter"});

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

const TensorType* type_of(const Program& program, ValueId value) {
  return value.valid() ? &program.values[value].type : nullptr;
}

// Changes the attribute's dims to count from the end, since slices keep the last dims. Returns the
// first of them, counted from the begin; `rank` if there is none; -1 if the step works along all
// dims.
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

bool cut_operands(const Program& program, std::span<const ValueId> values, const Dims* shape,
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

// Whether the index has one element for each line of the table, and the other operands or results
// have its shape. With several places per line, the kernel would process the line for each of them.
bool has_one_place(const Program& program, const ProgramStep& step) {
  if (step.inputs.size() < 2 || step.in_place != kNotInPlace) return false;
  const TensorType *table = type_of(program, step.inputs[0]),
                   *index = type_of(program, step.inputs[1]);
  if (table == nullptr || index == nullptr || index->rank() != table->rank()) return false;
  const int64_t given = step.attrs.get_int(AttrKey::kDim, INT64_MAX);
  const int64_t dim = given < 0 ? given + table->rank() : given;
  if (dim < 0 || dim >= table->rank()) return false;
  Dims line = table->shape;
  line[static_cast<size_t>(dim)] = 1;
  const TensorType* source = step.inputs.size() > 2 ? type_of(program, step.inputs[2]) : nullptr;
  const Dims& result = program.values[step.outputs[0]].type.shape;
  return index->shape == line && (source == nullptr || source->shape == line) &&
         result == (step.kernel == "gather" ? line : table->shape);
}

// Reduces the attributes that locate the piece in the whole tensor to the last `slice_rank` dims.
// False: the attributes do not locate it.
bool keep_last_cuts(Attrs& attrs, int64_t rank, int64_t slice_rank) {
  if (!attrs.has(AttrKey::kCuts)) return true;
  std::vector<int64_t> size = attrs.get_ints(AttrKey::kSize), cuts;
  const std::vector<int64_t>& all = attrs.get_ints(AttrKey::kCuts);
  if (static_cast<int64_t>(size.size()) != rank || all.size() % 2 != 0) return false;
  const int64_t gone = rank - slice_rank;
  size.erase(size.begin(), size.begin() + gone);
  for (size_t c = 0; c < all.size(); c += 2) {
    if (all[c + 1] < 0 || all[c + 1] >= rank) return false;
    if (all[c + 1] >= gone) cuts.insert(cuts.end(), {all[c], all[c + 1] - gone});
  }
  attrs.set(AttrKey::kSize, std::move(size));
  attrs.set(AttrKey::kCuts, std::move(cuts));
  return true;
}

}  // namespace

bool is_pointwise(const Program& program, const ProgramStep& step) {
  return step.outputs.size() == 1 && step.outputs[0].valid() &&
         (is_in(kPointwise, step.kernel) ||
          (step.kernel == "scatter" && has_one_place(program, step)));
}

Dims loop_shape(const Program& program, const ProgramStep& step) {
  const bool along = is_in(kAlongDims, step.kernel);
  if (runs_on_link(program, step) || step.outputs.size() != 1 ||
      step.inputs.size() >= kMostSlicedOperands || !step.outputs[0].valid())
    return {};
  if (is_in(kAtOnePlace, step.kernel) ? !has_one_place(program, step)
                                      : !along && !is_in(kPointwise, step.kernel))
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
  const bool at_one_place = is_in(kAtOnePlace, step.kernel);
  const TensorType* in = step.inputs.empty() ? nullptr : type_of(program, step.inputs[0]);
  if ((!at_one_place && !is_in(kAlongDims, step.kernel)) || in == nullptr) return {};
  const int64_t first = count_from_end(sliced.attrs, in->rank());
  if (first < 0 || !cut_operands(program, step.inputs, nullptr, first, loops, sliced.inputs) ||
      !cut_operands(program, step.outputs, nullptr, first, loops, sliced.outputs))
    return {};
  if (at_one_place && !keep_last_cuts(sliced.attrs, in->rank(), sliced.inputs[0].type.rank()))
    return {};
  return sliced;
}

}  // namespace shw
