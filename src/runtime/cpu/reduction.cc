#include "runtime/cpu/reduction.h"

#include <algorithm>
#include <concepts>
#include <limits>

#include "runtime/cpu/codegen/formula.h"
#include "runtime/cpu/rows.h"
#include "runtime/simd.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kResults = 512;   // number of results that are accumulated side by side
constexpr int64_t kRowChunk = 512;  // elements of a row that are converted at a time
constexpr int64_t kRowsTogether = 4;
constexpr int64_t kRowLanes = 8;  // partial results per row, so that it vectorises

// Each kind of reduction: its initial value, and how two values are combined.
struct Add {
  template <class A>
  static A start() {
    return {};
  }
  template <class A>
  static A join(A a, A b) {
    return a + b;
  }
};
struct Multiply {
  template <class A>
  static A start() {
    return A{1};
  }
  template <class A>
  static A join(A a, A b) {
    return a * b;
  }
};
template <bool kLargest>
struct Choose {
  template <class A>
  static A start() {
    if constexpr (std::is_same_v<A, Int>)
      return {kLargest ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max()};
    else
      return kLargest ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::infinity();
  }
  static Int join(Int a, Int b) { return (a < b) == kLargest ? b : a; }
  template <std::floating_point F>
  static F join(F a, F b) {  // NaN if either operand is NaN
    const F chosen = (a < b) == kLargest ? b : a;
    return a != a ? a : b != b ? b : chosen;
  }
};
template <bool kOne>  // true: any; false: all; the values are 0 or 1
struct Truth {
  template <class A>
  static A start() {
    return {!kOne};
  }
  static Int join(Int a, Int b) { return {kOne ? a.v | b.v : a.v & b.v}; }
};

// The inner loops of one kind of reduction. `Value` is the type of loaded elements, `Sum` the type
// of accumulators. Only these loops are compiled for every kind; the code that iterates over the
// input exists once for each pair of types.
template <class Value, class Sum>
struct InnerLoops {
  Sum start;
  // Adds one element of each row to a sum: of kRowsTogether rows at a distance of `pitch` values,
  // or of one row.
  void (*each_of_rows)(const Value* values, int64_t pitch, int64_t n, Sum* sums);
  void (*each)(const Value* values, int64_t n, Sum* sums);
  // Adds values to kRowLanes sums in turn.
  void (*lanes)(const Value* values, int64_t n, Sum* sums);
  void (*fold)(Sum* sums);  // adds these sums to the first
};

template <class Op, class Value, class Sum>
void join_each(const Value* values, int64_t n, Sum* sums) {
  vector_loop(n, [=](int64_t i) { sums[i] = Op::join(sums[i], static_cast<Sum>(values[i])); });
}

// Adds row after row, so the sums are those of join_each, but each sum is loaded and stored only
// once.
template <class Op, class Value, class Sum>
void join_rows_together(const Value* values, int64_t pitch, int64_t n, Sum* sums) {
  const Value *a = values, *b = a + pitch, *c = b + pitch, *d = c + pitch;
  vector_loop(n, [=](int64_t i) {
    const Sum ab = Op::join(Op::join(sums[i], static_cast<Sum>(a[i])), static_cast<Sum>(b[i]));
    sums[i] = Op::join(Op::join(ab, static_cast<Sum>(c[i])), static_cast<Sum>(d[i]));
  });
}

template <class Op, class Value, class Sum>
void join_lanes(const Value* values, int64_t n, Sum* sums) {
  // A loop of one iteration, to be compiled for wide vectors; inlined into each version of the
  // loop.
  vector_loop(
      1, [=](int64_t) __attribute__((always_inline)) {
        Sum lanes[kRowLanes];  // in registers: no write to `sums` could change `values`
        std::copy_n(sums, kRowLanes, lanes);
        int64_t i = 0;
        for (; i + kRowLanes <= n; i += kRowLanes)
          for (int64_t l = 0; l < kRowLanes; ++l)
            lanes[l] = Op::join(lanes[l], static_cast<Sum>(values[i + l]));
        for (int64_t l = 0; i < n; ++i, ++l)
          lanes[l] = Op::join(lanes[l], static_cast<Sum>(values[i]));
        std::copy_n(lanes, kRowLanes, sums);
      });
}

template <class Op, class Sum>
void fold_lanes(Sum* lanes) {
  for (int64_t width = kRowLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l) lanes[l] = Op::join(lanes[l], lanes[l + width]);
}

template <class Op, class Value, class Sum>
InnerLoops<Value, Sum> inner_loops() {
  return {Op::template start<Sum>(), join_rows_together<Op, Value, Sum>, join_each<Op, Value, Sum>,
          join_lanes<Op, Value, Sum>, fold_lanes<Op, Sum>};
}

// Converts elements of `dtype` to 0 (zero) or 1 (not zero), loaded as T.
using LoadTruth = void (*)(Dtype dtype, const std::byte* from, int64_t stride, int64_t n, Int* to);

template <class T>
void load_truth(Dtype dtype, const std::byte* from, int64_t stride, int64_t n, Int* to) {
  Room<T, kRowChunk> numbers;
  load_row<T>(dtype)(from, stride, n, numbers);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<T, Int>)
      to[i] = {numbers[i].v != 0};
    else if constexpr (std::is_same_v<T, Complex>)
      to[i] = {numbers[i].re != 0 || numbers[i].im != 0};
    else
      to[i] = {numbers[i] != 0};
  }
}

template <class Value, class Sum>
class ReductionKernel final : public HostKernel, public TracedKernel {
 public:
  // `divisor`: divides the results; negative: no division. `load_truth`: null if elements are used
  // unchanged.
  ReductionKernel(const ReducedDims& dims, const KernelArgs& args,
                  const InnerLoops<Value, Sum>& inner, int64_t divisor,
                  LoadTruth load_truth = nullptr)
      : dtype_(args.inputs[0]->dtype),
        inner_(inner),
        load_(load_row<Value>(args.inputs[0]->dtype)),
        load_truth_(load_truth),
        store_(store_row<Sum>(args.outputs[0]->dtype)),
        divisor_(divisor),
        output_(args.inputs.size()) {
    const Dims kept[2] = {dims.kept_in, dims.kept_out};
    kept_ = make_loop(dims.kept, kept);
    const Dims reduced[1] = {dims.reduced_in};
    reduced_ = make_loop(dims.reduced, reduced);
    // If each result has a single element, as when a rank has one of the heads that are added,
    // there is no row.
    side_by_side_ = kept_.row_size > 1 &&
                    (dims.count == 1 || kept_.row_stride_bytes[0] < reduced_.row_stride_bytes[0]);
    const StridedLoop& inner_loop = side_by_side_ ? kept_ : reduced_;
    direct_ = load_truth == nullptr && stored_as_is<Value>(dtype_) &&
              inner_loop.row_stride_bytes[0] == static_cast<int64_t>(sizeof(Value));
  }

  // For f32 sums over the last dims of the operand, which stay with size 1.
  void set_sums_rows(size_t dims) { row_dims_ = dims; }
  const TracedKernel* traced() const override { return row_dims_ > 0 ? this : nullptr; }
  size_t row_dims() const override { return row_dims_; }
  Traced trace(std::span<const Traced> inputs) const override {
    return row_sum(inputs[0], static_cast<float>(std::max<int64_t>(divisor_, 0)));
  }

  Status compute(void* const* buffers) noexcept override {
    auto* in = static_cast<std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const int64_t in_stride = kept_.row_stride_bytes[0], out_stride = kept_.row_stride_bytes[1];
    for_each_row(kept_, std::array{in, out}, [&](const std::array<std::byte*, 2>& p) {
      for (int64_t j = 0; j < kept_.row_size; j += kResults) {
        const int64_t n = std::min(kResults, kept_.row_size - j);
        Sum sums[kResults];
        std::byte* from = p[0] + j * in_stride;
        if (side_by_side_)
          join_rows(from, n, sums);
        else
          for (int64_t i = 0; i < n; ++i) sums[i] = reduce_row(from + i * in_stride);
        if constexpr (std::is_same_v<Sum, double>)
          if (divisor_ >= 0)
            for (int64_t i = 0; i < n; ++i) sums[i] /= static_cast<double>(divisor_);
        store_(sums, n, p[1] + j * out_stride, out_stride);
      }
    });
    return {};
  }

 private:
  // The n elements in place, or loaded into `room`.
  const Value* values(const std::byte* from, int64_t stride, int64_t n, Value* room) const {
    if (direct_) return reinterpret_cast<const Value*>(from);
    if constexpr (std::is_same_v<Value, Int>) {
      if (load_truth_ != nullptr) {
        load_truth_(dtype_, from, stride, n, room);
        return room;
      }
    }
    load_(from, stride, n, room);
    return room;
  }

  void join_rows(std::byte* from, int64_t n, Sum* sums) const {
    std::fill_n(sums, n, inner_.start);
    const int64_t step = reduced_.row_stride_bytes[0];
    for_each_row(reduced_, std::array{from}, [&](const std::array<std::byte*, 1>& p) {
      Value room[kResults];
      int64_t r = 0;
      const int64_t pitch = step / static_cast<int64_t>(sizeof(Value));
      for (; direct_ && r + kRowsTogether <= reduced_.row_size; r += kRowsTogether)
        inner_.each_of_rows(reinterpret_cast<const Value*>(p[0] + r * step), pitch, n, sums);
      for (; r < reduced_.row_size; ++r)
        inner_.each(values(p[0] + r * step, kept_.row_stride_bytes[0], n, room), n, sums);
    });
  }

  Sum reduce_row(std::byte* from) const {
    const int64_t stride = reduced_.row_stride_bytes[0];
    Sum lanes[kRowLanes];
    std::fill_n(lanes, kRowLanes, inner_.start);
    for_each_row(reduced_, std::array{from}, [&](const std::array<std::byte*, 1>& p) {
      Value room[kRowChunk];
      for (int64_t r = 0; r < reduced_.row_size; r += kRowChunk) {
        const int64_t n = std::min(kRowChunk, reduced_.row_size - r);
        inner_.lanes(values(p[0] + r * stride, stride, n, room), n, lanes);
      }
    });
    inner_.fold(lanes);
    return lanes[0];
  }

  Dtype dtype_;
  InnerLoops<Value, Sum> inner_;
  LoadRow<Value> load_;
  LoadTruth load_truth_;
  StoreRow<Sum> store_;
  int64_t divisor_;
  size_t output_;
  StridedLoop kept_;     // input, output
  StridedLoop reduced_;  // input
  bool side_by_side_;
  bool direct_;  // rows of the input are values
  size_t row_dims_ = 0;
};

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

[[gnu::cold]] Prepared prepare_complex(const KernelArgs& args, Reduction reduction) {
  SHW_ASSIGN_OR_RETURN(const TensorType in, as_real(*args.inputs[0]));
  SHW_ASSIGN_OR_RETURN(const TensorType out, as_real(*args.outputs[0]));
  std::vector<int64_t> dims = args.attrs.get_ints(AttrKey::kDims);
  const int64_t rank = args.inputs[0]->rank();
  for (int64_t& d : dims) d = d < 0 ? d + rank : d;
  if (dims.empty())
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  if (dims.empty()) return unimplemented("the sum of one complex number");
  Attrs attrs = args.attrs;
  attrs.set(AttrKey::kDims, dims);
  const TensorType* inputs[1] = {&in};
  const TensorType* outputs[1] = {&out};
  return prepare_reduction({inputs, outputs, attrs, args.mesh, args.rank}, reduction);
}

// The number of trailing dims that are reduced and stay with size 1, if no other dims are reduced.
// 0: other dims are reduced, or there are more elements than f32 can count.
size_t last_dims(const KernelArgs& args, const ReducedDims& dims) {
  constexpr int64_t kMostElements = 1 << 24;
  const Dims &in = args.inputs[0]->shape, &out = args.outputs[0]->shape;
  if (in.size() != out.size() || dims.count < 1 || dims.count > kMostElements) return 0;
  const size_t count = dims.reduced.size(), kept = in.size() - count;
  for (size_t d = 0; d < in.size(); ++d)
    if (out[d] != (d < kept ? in[d] : 1)) return 0;
  return count;
}

// Reductions that accumulate: reals in f64, integers in int64.
template <class Op>
[[gnu::cold]] Prepared prepare_numbers(const KernelArgs& args, const ReducedDims& dims,
                                       int64_t divisor = -1) {
  const Dtype in = args.inputs[0]->dtype, out = args.outputs[0]->dtype;
  if (is_floating(out) && in == Dtype::kF64)
    return make_kernel<ReductionKernel<double, double>>(dims, args,
                                                        inner_loops<Op, double, double>(), divisor);
  if (is_floating(out) && is_floating(in)) {
    auto kernel = std::make_unique<ReductionKernel<float, double>>(
        dims, args, inner_loops<Op, float, double>(), divisor);
    if (std::is_same_v<Op, Add> && in == Dtype::kF32 && out == Dtype::kF32)
      kernel->set_sums_rows(last_dims(args, dims));
    return std::unique_ptr<HostKernel>(std::move(kernel));
  }
  const auto is_integer = [](Dtype d) { return !is_floating(d) && !is_complex(d); };
  if (is_integer(out) && is_integer(in) && divisor < 0)
    return make_kernel<ReductionKernel<Int, Int>>(dims, args, inner_loops<Op, Int, Int>(), divisor);
  return unimplemented("this reduction of " + std::string(dtype_name(in)) + " in " +
                       std::string(dtype_name(out)));
}

// Reductions that select an element: exact in the type in which elements are loaded.
template <bool kLargest>
[[gnu::cold]] Prepared prepare_choice(const KernelArgs& args, const ReducedDims& dims) {
  using Op = Choose<kLargest>;
  const Dtype in = args.inputs[0]->dtype, out = args.outputs[0]->dtype;
  if (in == Dtype::kF64 || !is_floating(in) || !is_floating(out))
    return prepare_numbers<Op>(args, dims);
  return make_kernel<ReductionKernel<float, float>>(dims, args, inner_loops<Op, float, float>(),
                                                    -1);
}

template <class Op>
[[gnu::cold]] Prepared prepare_truth(const KernelArgs& args, const ReducedDims& dims) {
  if (args.outputs[0]->dtype != Dtype::kBool)
    return bad_types("truth is bool, not " + to_string(*args.outputs[0]));
  const LoadTruth load = with_compute_type(
      args.inputs[0]->dtype, [](auto t) -> LoadTruth { return load_truth<decltype(t)>; });
  return make_kernel<ReductionKernel<Int, Int>>(dims, args, inner_loops<Op, Int, Int>(), -1, load);
}

}  // namespace

[[gnu::cold]] Prepared prepare_reduction(const KernelArgs& args, Reduction reduction) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const bool complex = is_complex(args.inputs[0]->dtype) && is_complex(args.outputs[0]->dtype);
  if (complex && (reduction == Reduction::kSum || reduction == Reduction::kMean))
    return prepare_complex(args, reduction);
  SHW_ASSIGN_OR_RETURN(const ReducedDims dims, reduced_dims(args));
  switch (reduction) {
    case Reduction::kSum:
      return prepare_numbers<Add>(args, dims);
    case Reduction::kMean:
      // The mean of no elements is NaN, like 0 / 0.
      return prepare_numbers<Add>(args, dims, dims.count);
    case Reduction::kProduct:
      return prepare_numbers<Multiply>(args, dims);
    case Reduction::kMax:
      return prepare_choice<true>(args, dims);
    case Reduction::kMin:
      return prepare_choice<false>(args, dims);
    case Reduction::kAny:
      return prepare_truth<Truth<true>>(args, dims);
    case Reduction::kAll:
      return prepare_truth<Truth<false>>(args, dims);
  }
  return internal_error("no such reduction");
}

}  // namespace shw::runtime::cpu
