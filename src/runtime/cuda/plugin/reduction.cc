#include "runtime/cuda/plugin/reduction.h"

#include <algorithm>

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/cuda/plugin/slices.h"
#include "runtime/reduced_dims.h"

namespace shw::runtime::cuda {
namespace {

// The minimum number of elements per result that keeps a block busy.
constexpr int64_t kLeastForABlock = 64;

bool is_integer(Dtype d) { return !is_floating(d) && !is_complex(d); }
bool is_truth(ReduceKind kind) { return kind == ReduceKind::kAny || kind == ReduceKind::kAll; }

class ReductionKernel final : public CudaKernel {
 public:
  ReductionKernel(DeviceKernel kernel, bool by_blocks, const ReduceArguments& arguments,
                  size_t output)
      : kernel_(kernel), by_blocks_(by_blocks), arguments_(arguments), output_(output) {}

  std::optional<StepFormula> formula() const override {
    if (kernel_ == DeviceKernel::shw_variance || is_truth(arguments_.formula.kind)) return {};
    StepFormula formula;
    formula.kind = StepFormula::Kind::kReduction;
    formula.reduction = arguments_.formula;
    formula.by_blocks = by_blocks_;
    formula.is_integer = kernel_ == DeviceKernel::shw_reduce_each_i64 ||
                         kernel_ == DeviceKernel::shw_reduce_block_i64;
    return formula;
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    void* out = buffers[output_];
    const void* in = buffers[0];
    const int64_t results = arguments_.kept.total;
    return by_blocks_ ? launch_blocks(stream, kernel_, results, out, in, arguments_)
                      : launch_elements(stream, kernel_, results, out, in, arguments_);
  }

 private:
  const DeviceKernel kernel_;
  const bool by_blocks_;
  const ReduceArguments arguments_;
  const size_t output_;
};

// Contiguous results with many elements each. The elements are divided into slices, whose partial
// results lie in the workspace. `pack`: the number of results that a thread processes at a time if
// memory is aligned to 16 bytes.
class ColumnsKernel final : public CudaKernel {
 public:
  ColumnsKernel(bool reals, int64_t pack, const ReduceArguments& arguments, size_t output)
      : reals_(reals), pack_(pack), arguments_(arguments), output_(output) {}
  int64_t workspace_bytes() const override { return arguments_.slices * arguments_.kept.total * 8; }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const void* in = buffers[0];
    void *out = buffers[output_], *parts = buffers[output_ + 1];
    const bool packs = pack_ > 1 && reinterpret_cast<uintptr_t>(in) % kVectorBytes == 0;
    const DeviceKernel columns = packs    ? DeviceKernel::shw_reduce_column_packs
                                 : reals_ ? DeviceKernel::shw_reduce_columns_f64
                                          : DeviceKernel::shw_reduce_columns_i64;
    SHW_RETURN_IF_ERROR(launch_blocks(stream, columns, tiles(packs ? pack_ : 1) * arguments_.slices,
                                      parts, in, arguments_));
    return launch_blocks(
        stream, reals_ ? DeviceKernel::shw_reduce_slices_f64 : DeviceKernel::shw_reduce_slices_i64,
        tiles(1), out, static_cast<const void*>(parts), arguments_);
  }

 private:
  int64_t tiles(int64_t pack) const {
    const int64_t of_block = arguments_.columns * pack;
    return (arguments_.kept.total + of_block - 1) / of_block;
  }

  const bool reals_;
  const int64_t pack_;
  const ReduceArguments arguments_;
  const size_t output_;
};

// The number of results with contiguous elements that one instruction moves, if all of them are
// aligned for it. Only for sums; other reductions are rare.
int64_t pack_of(const ReduceArguments& a) {
  const bool sums = a.formula.kind == ReduceKind::kSum || a.formula.kind == ReduceKind::kMean;
  const auto dtype = static_cast<Dtype>(a.in_dtype);
  if (!sums || !(dtype == Dtype::kF32 || dtype == Dtype::kF16 || dtype == Dtype::kBF16)) return 1;
  const int64_t size = dtype_size(dtype), pack = kVectorBytes / size;
  const int last = a.kept.rank - 1;
  if (a.reduced.rank != 1 || a.reduced_in[0] % kVectorBytes != 0 || a.kept_in[last] != size ||
      a.kept.size[last] % pack != 0)
    return 1;
  for (int d = 0; d < last; ++d)
    if (a.kept_in[d] % kVectorBytes != 0) return 1;
  return pack;
}

// A complex tensor as an f32 tensor with a last dim of size 2.
Result<TensorType> as_real(const TensorType& type) {
  if (type.rank() == kMaxRank)
    return unimplemented("the sum of a complex tensor of rank " + std::to_string(kMaxRank));
  TensorType real = type;
  real.dtype = Dtype::kF32;
  for (int64_t& stride : real.strides) stride *= 2;
  real.shape.push_back(2);
  real.strides.push_back(1);
  return real;
}

ReduceArguments reduce_arguments(const KernelArgs& args, const ReducedDims& dims, ReduceKind kind) {
  ReduceArguments a{};
  i64 kept[2][kMaxLoops] = {}, reduced[1][kMaxLoops] = {};
  const Dims kept_strides[2] = {dims.kept_in, dims.kept_out};
  const Dims reduced_strides[1] = {dims.reduced_in};
  a.kept = device_loops(dims.kept, kept_strides, kept);
  a.reduced = device_loops(dims.reduced, reduced_strides, reduced);
  for (int d = 0; d < kMaxLoops; ++d) {
    a.kept_in[d] = kept[0][d];
    a.kept_out[d] = kept[1][d];
    a.reduced_in[d] = reduced[0][d];
  }
  a.in_dtype = static_cast<int>(args.inputs[0]->dtype);
  a.out_dtype = static_cast<int>(args.outputs[0]->dtype);
  a.formula.kind = kind;
  a.formula.count = dims.count;
  return a;
}

Prepared prepare_real(const Context& context, const KernelArgs& args, const ReducedDims& dims,
                      ReduceKind kind) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const bool reals = is_floating(in.dtype) && is_floating(out.dtype);
  const bool integers = is_integer(in.dtype) && is_integer(out.dtype) && kind != ReduceKind::kMean;
  if (!reals && !integers && !is_truth(kind))
    return unimplemented("this reduction of " + std::string(dtype_name(in.dtype)) + " in " +
                         std::string(dtype_name(out.dtype)));
  ReduceArguments a = reduce_arguments(args, dims, kind);
  // If neighbouring results are closer together than the elements of one result, threads with one
  // result each read contiguous memory.
  const i64 kept_step = a.kept_in[a.kept.rank - 1], step = a.reduced_in[a.reduced.rank - 1];
  const bool side_by_side = kept_step > 0 && kept_step < step;
  const bool is_long = a.reduced.total >= kLeastForABlock;
  if (is_long && side_by_side) {
    const int64_t pack = reals ? pack_of(a) : 1;
    const Slices slices = slices_of(a.kept.total / pack, a.reduced.total, context);
    a.columns = slices.columns;
    a.slices = slices.slices;
    return make_kernel<ColumnsKernel>(reals && !is_truth(kind), pack, a, args.inputs.size());
  }
  const bool by_blocks = is_long;
  const DeviceKernel kernel =
      reals && !is_truth(kind)
          ? (by_blocks ? DeviceKernel::shw_reduce_block_f64 : DeviceKernel::shw_reduce_each_f64)
          : (by_blocks ? DeviceKernel::shw_reduce_block_i64 : DeviceKernel::shw_reduce_each_i64);
  return make_kernel<ReductionKernel>(kernel, by_blocks, a, args.inputs.size());
}

Prepared prepare(const Context& context, const KernelArgs& args, ReduceKind kind) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (is_truth(kind) && args.outputs[0]->dtype != Dtype::kBool)
    return bad_types("truth is bool, not " + to_string(*args.outputs[0]));
  const bool sums = kind == ReduceKind::kSum || kind == ReduceKind::kMean;
  if (!sums || !is_complex(args.inputs[0]->dtype) || !is_complex(args.outputs[0]->dtype)) {
    SHW_ASSIGN_OR_RETURN(const ReducedDims dims, reduced_dims(args));
    return prepare_real(context, args, dims, kind);
  }
  SHW_ASSIGN_OR_RETURN(const TensorType in, as_real(*args.inputs[0]));
  SHW_ASSIGN_OR_RETURN(const TensorType out, as_real(*args.outputs[0]));
  std::vector<int64_t> over = args.attrs.get_ints(AttrKey::kDims);
  const int64_t rank = args.inputs[0]->rank();
  for (int64_t& d : over) d = d < 0 ? d + rank : d;
  if (over.empty())
    for (int64_t d = 0; d < rank; ++d) over.push_back(d);
  if (over.empty()) return unimplemented("the sum of one complex number");
  Attrs attrs = args.attrs;
  attrs.set(AttrKey::kDims, over);
  const TensorType* inputs[1] = {&in};
  const TensorType* outputs[1] = {&out};
  const KernelArgs real{inputs, outputs, attrs, args.mesh, args.rank};
  SHW_ASSIGN_OR_RETURN(const ReducedDims dims, reduced_dims(real));
  return prepare_real(context, real, dims, kind);
}

}  // namespace

Prepared prepare_sum(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kSum);
}
Prepared prepare_mean(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kMean);
}
Prepared prepare_prod(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kProduct);
}
Prepared prepare_amax(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kMax);
}
Prepared prepare_amin(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kMin);
}
Prepared prepare_any(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kAny);
}
Prepared prepare_all(const Context& context, const KernelArgs& args) {
  return prepare(context, args, ReduceKind::kAll);
}

// The variance of n elements; the divisor is n − correction.
Prepared prepare_var(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (!is_floating(args.inputs[0]->dtype) || !is_floating(args.outputs[0]->dtype))
    return unimplemented("variance of " + to_string(*args.inputs[0]) + " to " +
                         to_string(*args.outputs[0]) +
                         ": only floating-point operands and results are supported");
  SHW_ASSIGN_OR_RETURN(const ReducedDims dims, reduced_dims(args));
  ReduceArguments a = reduce_arguments(args, dims, ReduceKind::kSum);
  const double correction = number_attr(args.attrs, AttrKey::kCorrection, 1).real;
  a.divisor = std::max(0.0, static_cast<double>(dims.count) - correction);
  return make_kernel<ReductionKernel>(DeviceKernel::shw_variance, true, a, args.inputs.size());
}

}  // namespace shw::runtime::cuda
