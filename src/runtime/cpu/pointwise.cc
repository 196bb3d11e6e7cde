#include "runtime/cpu/pointwise.h"

#include <algorithm>

#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kConverted = 1024;                // elements that are converted at a time
constexpr size_t kFixed = static_cast<size_t>(-1);  // operand number of the fixed operand

// An operand, or the result, as rows of T.
template <class T>
struct RowAccess {
  LoadRow<T> load = nullptr;
  StoreRow<T> store = nullptr;
  int64_t stride_bytes = 0;
  bool direct = false;  // memory holds contiguous rows of T
  bool scalar() const { return stride_bytes == 0; }

  RowAccess() = default;
  RowAccess(Dtype dtype, int64_t stride)
      : load(load_row<T>(dtype)),
        store(store_row<T>(dtype)),
        stride_bytes(stride),
        direct(stored_as_is<T>(dtype) && stride == static_cast<int64_t>(sizeof(T))) {}
};

template <class T, size_t N>
class PointwiseKernel final : public HostKernel, public TracedKernel {
 public:
  PointwiseKernel(const PointwiseOp<N>& op, const StridedLoop& loop,
                  const std::array<Dtype, N + 1>& dtypes, const std::array<size_t, N>& operands,
                  size_t result, T fixed)
      : op_(op), loop_(loop), operands_(operands), result_(result), fixed_(fixed) {
    for (size_t o = 0; o <= N; ++o) rows_[o] = {dtypes[o], loop.row_stride_bytes[o]};
    bool all_direct = rows_[0].direct;
    for (size_t o = 0; o < N; ++o) {
      all_scalar_ = all_scalar_ && rows_[o + 1].scalar();
      all_direct = all_direct && rows_[o + 1].direct;
    }
    chunk_ = all_direct ? std::max<int64_t>(loop.row_size, 1) : kConverted;
    plain_ = all_direct ? op_.template loop<T>() : loop_with_number(dtypes);
    for (size_t o = 0; o <= N; ++o) ahead_bytes_[o] = rows_ahead(o);
    in_f32_ = std::is_same_v<T, float> && std::ranges::all_of(dtypes, in_compiled_loops);
  }

  Status compute(void* const* buffers) noexcept override {
    std::array<std::byte*, N + 1> p;  // the result, then the operands
    p[0] = static_cast<std::byte*>(buffers[result_]);
    for (size_t o = 0; o < N; ++o)
      p[o + 1] = operands_[o] == kFixed ? reinterpret_cast<std::byte*>(&fixed_)
                                        : static_cast<std::byte*>(buffers[operands_[o]]);
    if (plain_ != nullptr)
      for_each_row(loop_, p, [this](const auto& rows) { do_plain_row(rows); });
    else
      for_each_row(loop_, p, [this](const auto& rows) { do_row(rows); });
    return {};
  }

  const TracedKernel* traced() const override {
    return in_f32_ && op_.trace() != nullptr ? this : nullptr;
  }
  Traced trace(std::span<const Traced> inputs) const override {
    std::array<Traced, N> operands;
    for (size_t o = 0; o < N; ++o)
      operands[o] = operands_[o] == kFixed ? fixed_number() : inputs[operands_[o]];
    return op_.trace()(op_.functor(), operands);
  }

 private:
  using Chunk = Room<T, kConverted>;

  Traced fixed_number() const {
    if constexpr (std::is_same_v<T, float>)
      return fixed_;
    else
      return {};  // such a kernel has no formula
  }

  // The loop for one operand that is a number, if the other operand and the result are contiguous
  // rows.
  RowFunction<T, N> loop_with_number(const std::array<Dtype, N + 1>& dtypes) const {
    if constexpr (N == 2)
      for (const size_t number : {size_t{1}, size_t{2}})
        if (rows_[0].direct && rows_[3 - number].direct && rows_[number].scalar() &&
            stored_as_is<T>(dtypes[number]))
          return op_.template loop_with<T>(number == 1 ? OneNumber::kFirst : OneNumber::kSecond);
    return nullptr;
  }

  // The distance in bytes to the row that is prefetched; 0: none. Prefetch is needed for short rows
  // with gaps between them, such as those of one head among others: the hardware prefetcher does
  // not predict them.
  int64_t rows_ahead(size_t o) const {
    constexpr int64_t kRows = 8, kShortBytes = 512;
    if (loop_.rank == 0 || row_bytes() > kShortBytes || !rows_[o].direct) return 0;
    const int64_t step = loop_.stride_bytes[o][static_cast<size_t>(loop_.rank - 1)];
    return step > row_bytes() ? kRows * step : 0;
  }
  int64_t row_bytes() const { return loop_.row_size * static_cast<int64_t>(sizeof(T)); }

  void do_plain_row(const std::array<std::byte*, N + 1>& p) const {
    constexpr int64_t kLine = 64;
    for (size_t o = 0; o <= N; ++o)
      for (int64_t b = 0; ahead_bytes_[o] != 0 && b < row_bytes(); b += kLine)
        __builtin_prefetch(reinterpret_cast<const void*>(
            reinterpret_cast<uintptr_t>(p[o]) + static_cast<uintptr_t>(ahead_bytes_[o] + b)));
    OperandRows<T, N> in;
    for (size_t o = 0; o < N; ++o) in[o] = reinterpret_cast<const T*>(p[o + 1]);
    plain_(op_.functor(), in, loop_.row_size, reinterpret_cast<T*>(p[0]));
  }

  void do_row(const std::array<std::byte*, N + 1>& p) const {
    Chunk values[N], out;
    OperandRows<T, N> in;
    for (size_t o = 0; o < N; ++o)
      if (rows_[o + 1].scalar()) {
        rows_[o + 1].load(p[o + 1], 0, 1, values[o]);
        if (!all_scalar_)
          std::fill_n(static_cast<T*>(values[o]), std::min(chunk_, loop_.row_size), values[o][0]);
        in[o] = values[o];
      }
    for (int64_t i = 0; i < loop_.row_size; i += chunk_) {
      const int64_t n = std::min(chunk_, loop_.row_size - i);
      for (size_t o = 0; o < N; ++o) {
        const RowAccess<T>& access = rows_[o + 1];
        if (access.scalar()) continue;
        std::byte* from = p[o + 1] + i * access.stride_bytes;
        if (access.direct) {
          in[o] = reinterpret_cast<const T*>(from);
        } else {
          access.load(from, access.stride_bytes, n, values[o]);
          in[o] = values[o];
        }
      }
      std::byte* to = p[0] + i * rows_[0].stride_bytes;
      T* result = rows_[0].direct ? reinterpret_cast<T*>(to) : out;
      op_.template loop<T>()(op_.functor(), in, all_scalar_ ? 1 : n, result);
      if (all_scalar_) std::fill(result + 1, result + n, result[0]);
      if (!rows_[0].direct) rows_[0].store(result, n, to, rows_[0].stride_bytes);
    }
  }

  PointwiseOp<N> op_;
  StridedLoop loop_;
  // Numbers of the operands and the result among the step's buffers.
  std::array<size_t, N> operands_;
  size_t result_;
  T fixed_;
  std::array<RowAccess<T>, N + 1> rows_;  // the result, then the operands
  bool all_scalar_ = true;
  bool in_f32_ = false;  // computed, and compiled loops read all operands and write the result
  int64_t chunk_ = kConverted;  // a whole row if no buffer is used
  std::array<int64_t, N + 1> ahead_bytes_{};
  RowFunction<T, N> plain_ = nullptr;  // for rows that need no buffer; null: some rows do
};

// The dtype whose stored elements are values of compute type T.
template <class T>
constexpr Dtype dtype_of() {
  for (Dtype d : {Dtype::kF32, Dtype::kF64, Dtype::kI64})
    if (stored_as_is<T>(d)) return d;
  return Dtype::kC64;
}

}  // namespace

template <size_t N>
[[gnu::cold]] Prepared make_pointwise(const KernelArgs& args, const std::array<size_t, N>& inputs,
                                      const PointwiseOp<N>& op, std::optional<Dtype> compute,
                                      const std::optional<FixedOperand>& fixed) {
  const TensorType& out = *args.outputs[0];
  std::array<size_t, N> operands = inputs;
  if (fixed) operands[fixed->operand] = kFixed;
  std::array<Dtype, N + 1> dtypes{out.dtype};
  std::array<Dims, N + 1> strides{broadcast_strides_bytes(out, out.shape)};
  for (size_t o = 0; o < N; ++o) {
    if (operands[o] == kFixed) {
      strides[o + 1] = Dims(out.shape.size(), 0);
      continue;
    }
    const TensorType& in = *args.inputs[operands[o]];
    if (!broadcasts_to(in.shape, out.shape))
      return bad_types(to_string(in) + " does not broadcast to " + to_string(out));
    dtypes[o + 1] = in.dtype;
    strides[o + 1] = broadcast_strides_bytes(in, out.shape);
  }
  const StridedLoop loop = make_loop(out.shape, strides);
  return with_compute_type(compute.value_or(out.dtype), [&](auto t) -> Prepared {
    using T = decltype(t);
    if (op.template loop<T>() == nullptr)
      return unimplemented("the CPU backend cannot do this in " +
                           std::string(dtype_name(out.dtype)));
    if (fixed) dtypes[fixed->operand + 1] = dtype_of<T>();
    return make_kernel<PointwiseKernel<T, N>>(op, loop, dtypes, operands, args.inputs.size(),
                                              fixed ? fixed->value.template as<T>() : T{});
  });
}
template Prepared make_pointwise(const KernelArgs&, const std::array<size_t, 1>&,
                                 const PointwiseOp<1>&, std::optional<Dtype>,
                                 const std::optional<FixedOperand>&);
template Prepared make_pointwise(const KernelArgs&, const std::array<size_t, 2>&,
                                 const PointwiseOp<2>&, std::optional<Dtype>,
                                 const std::optional<FixedOperand>&);
template Prepared make_pointwise(const KernelArgs&, const std::array<size_t, 3>&,
                                 const PointwiseOp<3>&, std::optional<Dtype>,
                                 const std::optional<FixedOperand>&);

[[gnu::cold]] Prepared make_binary(const KernelArgs& args, const PointwiseOp<2>& op,
                                   std::optional<Dtype> compute) {
  const auto there = [&](size_t i) { return i < args.inputs.size() && args.inputs[i] != nullptr; };
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  if (there(0) && there(1)) return make_pointwise(args, std::array<size_t, 2>{0, 1}, op, compute);
  const size_t tensor = there(0) ? 0 : 1;
  if (!there(tensor)) return invalid_argument("the step has no tensor operand");
  const auto with_number = [&](size_t operand, AttrKey key) {
    return make_pointwise(args, std::array{tensor, tensor}, op, compute,
                          FixedOperand{operand, scalar_attr(args.attrs, key, 0)});
  };
  if (args.attrs.has(AttrKey::kOther) && tensor == 0) return with_number(1, AttrKey::kOther);
  if (args.attrs.has(AttrKey::kSelf)) return with_number(0, AttrKey::kSelf);
  return invalid_argument("the step's second operand is neither a tensor nor a number");
}

Scalar scalar_attr(const Attrs& attrs, AttrKey key, int64_t otherwise) {
  const AttrValue* value = attrs.find(key);
  if (value == nullptr) return {static_cast<double>(otherwise), otherwise};
  if (const auto* i = std::get_if<int64_t>(value)) return {static_cast<double>(*i), *i};
  if (const auto* b = std::get_if<bool>(value)) return {*b ? 1.0 : 0.0, *b ? 1 : 0};
  if (const auto* d = std::get_if<double>(value)) {
    // An integer operand may be combined with a fractional number only if the types guarantee that
    // the fraction is 0.
    const double bounded = std::clamp(*d, -0x1p62, 0x1p62);
    return {*d, bounded == bounded ? static_cast<int64_t>(bounded) : 0};
  }
  return {static_cast<double>(otherwise), otherwise};
}

}  // namespace shw::runtime::cpu
