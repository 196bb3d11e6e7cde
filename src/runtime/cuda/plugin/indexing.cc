#include "runtime/cuda/plugin/indexing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/cuda/plugin/sorting.h"
#include "runtime/dim.h"
#include "runtime/half.h"
#include "runtime/index_shape.h"
#include "tensor/float8.h"

namespace shw::runtime::cuda {
namespace {

using IndexInputs = std::array<const void*, kMaxIndices>;

// Selects the dims of a shape that belong to the index tensors, or the others.
Dims some_of(const Dims& all, const Dims& positions, int64_t kind) {
  Dims some;
  for (size_t d = 0; d < all.size(); ++d)
    if (positions[d] == kind) some.push_back(all[d]);
  return some;
}

IndexArguments index_arguments(const IndexShape& s, Dtype dtype, const char* kernel, bool wraps) {
  IndexArguments a{};
  a.positions = plain_loops(some_of(s.shape, s.positions, 1));
  a.lines = plain_loops(some_of(s.shape, s.positions, 0));
  set_strides(some_of(s.other, s.positions, 1), a.position_other);
  set_strides(some_of(s.other, s.positions, 0), a.line_other);
  set_strides(some_of(s.table, s.positions, 0), a.line_table);
  a.num_indices = static_cast<int>(s.indexed.size());
  for (size_t k = 0; k < s.indexed.size(); ++k) {
    const IndexedDim& dim = s.indexed[k];
    const Dims by_line = some_of(s.indices[k], s.positions, 0);
    set_strides(some_of(s.indices[k], s.positions, 1), a.position_index[k]);
    set_strides(by_line, a.line_index[k]);
    if (std::ranges::any_of(by_line, [](int64_t n) { return n != 0; })) a.by_line = 1;
    a.rows[k] = {dim.part.first, dim.part.own, dim.part.whole};
    a.table_step[k] = dim.stride_bytes;
    a.index_dtype[k] = static_cast<int>(dim.dtype);
  }
  a.dtype = static_cast<int>(dtype);
  a.wraps = wraps;
  a.step.kernel = kernel_number(kernel);
  return a;
}

// The index tensors of a step, from input `first` on.
IndexInputs index_inputs(void* const* buffers, size_t first, int count) {
  IndexInputs inputs{};
  for (int k = 0; k < count; ++k) inputs[static_cast<size_t>(k)] = buffers[first + k];
  return inputs;
}

class ReadKernel final : public CudaKernel {
 public:
  ReadKernel(const IndexArguments& arguments, size_t output,
             std::optional<StepFormula> described = {})
      : arguments_(arguments), described_(std::move(described)), output_(output) {}

  std::optional<StepFormula> formula() const override { return described_; }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    const IndexInputs i = index_inputs(buffers, 1, arguments_.num_indices);
    return launch_elements(stream, DeviceKernel::shw_index_read,
                           arguments_.positions.total * arguments_.lines.total, buffers[output_],
                           buffers[0], i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7],
                           stream.errors(), arguments_);
  }

 private:
  IndexArguments arguments_;
  const std::optional<StepFormula> described_;
  const size_t output_;
};

class WriteKernel final : public CudaKernel {
 public:
  WriteKernel(const IndexArguments& arguments, const Pointwise& ground, size_t first_index,
              std::optional<size_t> other, size_t output, std::optional<StepFormula> described = {})
      : arguments_(arguments),
        described_(std::move(described)),
        ground_(ground),
        first_index_(first_index),
        other_(other),
        output_(output) {}

  int64_t workspace_bytes() const override { return sort().workspace_bytes(); }
  std::optional<StepFormula> formula() const override { return described_; }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    arguments_.step.node = origin.node;
    void* out = buffers[output_];
    const void* other = other_ ? buffers[*other_] : nullptr;
    auto* entries = static_cast<SortEntry*>(buffers[output_ + 1]);
    const IndexInputs i = index_inputs(buffers, first_index_, arguments_.num_indices);
    SHW_RETURN_IF_ERROR(ground_.run(stream, out, buffers[0], nullptr));
    SHW_RETURN_IF_ERROR(launch_elements(stream, DeviceKernel::shw_index_places,
                                        sort().lines * sort().count, entries, i[0], i[1], i[2],
                                        i[3], i[4], i[5], i[6], i[7], stream.errors(), arguments_));
    SHW_ASSIGN_OR_RETURN(const SortEntry* sorted, sort().run(stream, entries));
    return launch_elements(stream, kernel(), arguments_.positions.total * arguments_.lines.total,
                           out, other, sorted, arguments_);
  }

 private:
  // A sort with one entry for each element that is written by index.
  LineSort sort() const {
    return {arguments_.by_line != 0 ? arguments_.lines.total : 1, arguments_.positions.total};
  }
  DeviceKernel kernel() const {
    switch (compute_type(static_cast<Dtype>(arguments_.dtype))) {
      case ComputeType::kF32:
        return DeviceKernel::shw_index_write_f32;
      case ComputeType::kF64:
        return DeviceKernel::shw_index_write_f64;
      case ComputeType::kI64:
        return DeviceKernel::shw_index_write_i64;
      case ComputeType::kC64:
        return DeviceKernel::shw_index_write_c64;
    }
    return DeviceKernel::shw_index_write_f32;
  }

  IndexArguments arguments_;
  const std::optional<StepFormula> described_;
  Pointwise ground_;  // the result begins as input 0
  const size_t first_index_;
  const std::optional<size_t> other_;  // absent: the fixed number
  const size_t output_;
};

Status expect_table(const TensorType& table, const TensorType& out) {
  if (table.dtype == out.dtype) return {};
  return bad_types(to_string(out) + " does not hold elements of " + to_string(table));
}

// The bits of a number as an element of `dtype`.
i64 element_bits(const Number& number, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(number.real));
    case Dtype::kF64:
      return std::bit_cast<i64>(number.real);
    case Dtype::kF16:
      return f32_to_f16(static_cast<float>(number.real));
    case Dtype::kBF16:
      return f32_to_bf16(static_cast<float>(number.real));
    case Dtype::kF8E4M3:
      return f32_to_f8e4m3(static_cast<float>(number.real));
    case Dtype::kF8E5M2:
      return f32_to_f8e5m2(static_cast<float>(number.real));
    case Dtype::kC64:
      return std::bit_cast<uint32_t>(static_cast<float>(number.real));  // the real part comes first
    case Dtype::kBool:
      return number.real != 0;
    default:
      return number.integer;
  }
}

// The formula for steps with one index per line of the table along attrs.dim.
std::optional<StepFormula> one_place_formula(const KernelArgs& args, StepFormula::Kind kind,
                                             const TensorType& table, const IndexArguments& a) {
  const auto dim = dim_of(args.attrs, table);
  if (!dim.ok() || table.numel() == 0) return {};
  Dims lines = table.shape;
  lines[*dim] = 1;
  if (args.inputs[1]->shape != lines) return {};
  StepFormula formula;
  formula.kind = kind;
  formula.dim = *dim;
  formula.rows = a.rows[0];
  formula.fixed = a.fixed;
  formula.kernel = a.step.kernel;
  return formula;
}

// Input 0, into which elements of `src` are combined; input 1 is the index.
Prepared prepare_write(const KernelArgs& args, const char* name, CombineKind how) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const bool has_src = args.inputs.size() > 2 && args.inputs[2] != nullptr;
  const TensorType &in = *args.inputs[0], &indices = *args.inputs[1], &out = *args.outputs[0];
  const TensorType& beside = has_src ? *args.inputs[2] : indices;
  const bool has_order = how != CombineKind::kMax && how != CombineKind::kMin;
  SHW_RETURN_IF_ERROR(check_written(args, has_src ? &beside : nullptr));
  if (!has_src && how != CombineKind::kReplace) return bad_types("there is nothing to scatter");
  if (is_complex(out.dtype) && !has_order) return bad_types("complex numbers have no order");
  SHW_RETURN_IF_ERROR(check_size({indices.numel()}));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, element_lookup_shape(args, out, indices, beside));
  IndexArguments a = index_arguments(shape, out.dtype, name, /*wraps=*/false);
  a.how = how;
  if (!has_src) a.fixed = element_bits(number_attr(args.attrs, AttrKey::kSrc, 0), out.dtype);
  std::optional<StepFormula> described;
  if (how == CombineKind::kReplace)
    described = one_place_formula(args, StepFormula::Kind::kScatter, out, a);
  return make_kernel<WriteKernel>(a, make_copy(out, in), 1,
                                  has_src ? std::optional<size_t>(2) : std::nullopt,
                                  args.inputs.size(), std::move(described));
}

}  // namespace

Prepared prepare_gather(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &table = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(expect_table(table, out));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape,
                       element_lookup_shape(args, table, *args.inputs[1], out));
  const IndexArguments a = index_arguments(shape, out.dtype, "gather", /*wraps=*/false);
  return make_kernel<ReadKernel>(a, args.inputs.size(),
                                 one_place_formula(args, StepFormula::Kind::kGather, table, a));
}

Prepared prepare_index_select(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &table = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(expect_table(table, out));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape,
                       slice_lookup_shape(args, table, *args.inputs[1], out));
  return make_kernel<ReadKernel>(index_arguments(shape, out.dtype, "index_select", /*wraps=*/false),
                                 args.inputs.size());
}

Prepared prepare_index(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(2, args.inputs.size())));
  const TensorType &table = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(expect_table(table, out));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, index_shape(args, table, 1, out, /*exact=*/true));
  return make_kernel<ReadKernel>(index_arguments(shape, out.dtype, "index", /*wraps=*/true),
                                 args.inputs.size());
}

Prepared prepare_scatter(const Context&, const KernelArgs& args) {
  return prepare_write(args, "scatter", CombineKind::kReplace);
}
Prepared prepare_scatter_add(const Context&, const KernelArgs& args) {
  return prepare_write(args, "scatter_add", CombineKind::kAdd);
}
Prepared prepare_scatter_reduce(const Context&, const KernelArgs& args) {
  const std::string_view how = args.attrs.get_string(AttrKey::kReduce);
  if (how == "amax") return prepare_write(args, "scatter_reduce", CombineKind::kMax);
  if (how == "amin") return prepare_write(args, "scatter_reduce", CombineKind::kMin);
  if (how == "prod") return prepare_write(args, "scatter_reduce", CombineKind::kMultiply);
  return invalid_argument("reduce is '" + std::string(how) +
                          "', expected 'amax', 'amin' or 'prod'");
}

Prepared prepare_index_put(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(3, args.inputs.size())));
  const TensorType &self = *args.inputs[0], &values = *args.inputs[1], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_written(args, &values));
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, index_shape(args, out, 2, values, /*exact=*/false));
  IndexArguments a = index_arguments(shape, out.dtype, "index_put", /*wraps=*/true);
  SHW_RETURN_IF_ERROR(check_size({a.positions.total}));
  const bool adds = args.attrs.get_bool(AttrKey::kAccumulate, false);
  a.how = adds ? CombineKind::kAdd : CombineKind::kReplace;
  return make_kernel<WriteKernel>(a, make_copy(out, self), 2, std::optional<size_t>(1),
                                  args.inputs.size());
}

}  // namespace shw::runtime::cuda
