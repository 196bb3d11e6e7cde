// Pointwise kernels with broadcasting: make a kernel on tensors from an operation on values.
//
// An operation is a small functor, defined for the compute types of rows.h that it supports. Rows
// are processed in chunks that fit in the first-level cache. An operand that is not a contiguous
// row of the compute type is first converted into a buffer; a single value for the whole row is
// repeated there. So each operation and type needs only one flat loop, which the compiler
// vectorises. (f32 operations of two operands have two more loops, for one operand that is a single
// value.) Only that loop is compiled for each operation. The kernel around it (pointwise.cc) exists
// once per compute type, and calls the loop through a pointer once per chunk. This keeps the
// library small.
#pragma once
#include <array>
#include <cstddef>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>

#include "runtime/cpu/codegen/formula.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/rows.h"
#include "runtime/simd.h"

namespace shw::runtime::cpu {

// The current chunk of each operand.
template <class T, size_t N>
using OperandRows = std::array<const T*, N>;

// Computes n elements. `op` points to the functor.
template <class T, size_t N>
using RowFunction = void (*)(const void* op, const OperandRows<T, N>& in, int64_t n, T* out);

// Which of two operands is one number for the whole row.
enum class OneNumber : uint8_t { kNone, kFirst, kSecond };

// A functor with many instructions per element has a member type `Long`.
template <class T, size_t N, class Op, OneNumber one = OneNumber::kNone>
void apply_to_rows(const void* functor, const OperandRows<T, N>& in, int64_t n, T* out) {
  const Op op = *static_cast<const Op*>(functor);  // a copy: writes to `out` cannot change it
  const T* a = in[0];
  if constexpr (N == 1 && std::is_same_v<T, float> && requires { typename Op::Long; }) {
    long_vector_loop(n, [=](int64_t i) { out[i] = op(a[i]); });
  } else if constexpr (N == 1) {
    vector_loop(n, [=](int64_t i) { out[i] = op(a[i]); });
  } else if constexpr (N == 2 && one == OneNumber::kFirst) {
    const T *b = in[1], number = *a;
    vector_loop(n, [=](int64_t i) { out[i] = op(number, b[i]); });
  } else if constexpr (N == 2 && one == OneNumber::kSecond) {
    const T number = *in[1];
    vector_loop(n, [=](int64_t i) { out[i] = op(a[i], number); });
  } else if constexpr (N == 2) {
    const T* b = in[1];
    vector_loop(n, [=](int64_t i) { out[i] = op(a[i], b[i]); });
  } else {
    const T *b = in[1], *c = in[2];
    vector_loop(n, [=](int64_t i) { out[i] = op(a[i], b[i], c[i]); });
  }
}

// Records the formula of an operation on N operands.
template <size_t N>
using TraceFunction = Traced (*)(const void* op, const std::array<Traced, N>& operands);

template <size_t N, class Op>
Traced trace_op(const void* functor, const std::array<Traced, N>& operands) {
  return std::apply(*static_cast<const Op*>(functor), operands);
}

// A type-erased operation of N operands: a copy of the functor, its loop for each compute type, and
// its formula (each null where it is not defined).
template <size_t N>
class PointwiseOp {
 public:
  template <class Op>
  explicit PointwiseOp(const Op& op)
      : loops_(loop<float, Op>(), loop<double, Op>(), loop<Int, Op>(), loop<Complex, Op>()) {
    static_assert(std::is_trivially_copyable_v<Op> && sizeof(Op) <= sizeof(functor_));
    new (functor_) Op(op);
    if constexpr (N == 2 && defined<float, Op>())
      with_number_ = {apply_to_rows<float, N, Op, OneNumber::kFirst>,
                      apply_to_rows<float, N, Op, OneNumber::kSecond>};
    if constexpr (defined<Traced, Op>()) trace_ = trace_op<N, Op>;
  }

  template <class T>
  RowFunction<T, N> loop() const {
    return std::get<RowFunction<T, N>>(loops_);
  }
  // The loop for two operands of which one is a number. Null: there is no such loop, so the number
  // must be repeated.
  template <class T>
  RowFunction<T, N> loop_with(OneNumber one) const {
    if constexpr (std::is_same_v<T, float>)
      return with_number_[one == OneNumber::kFirst ? 0 : 1];
    else
      return nullptr;
  }
  TraceFunction<N> trace() const { return trace_; }
  const void* functor() const { return functor_; }

 private:
  template <class T, class Op>
  static constexpr bool defined() {
    if constexpr (N == 1)
      return std::is_invocable_r_v<T, Op, T>;
    else if constexpr (N == 2)
      return std::is_invocable_r_v<T, Op, T, T>;
    else
      return std::is_invocable_r_v<T, Op, T, T, T>;
  }
  template <class T, class Op>
  static constexpr RowFunction<T, N> loop() {
    if constexpr (defined<T, Op>())
      return apply_to_rows<T, N, Op>;
    else
      return nullptr;
  }

  alignas(std::max_align_t) std::byte functor_[64];
  std::tuple<RowFunction<float, N>, RowFunction<double, N>, RowFunction<Int, N>,
             RowFunction<Complex, N>>
      loops_;
  // The loops with the number as the first and as the second operand.
  std::array<RowFunction<float, N>, 2> with_number_{};
  TraceFunction<N> trace_ = nullptr;
};

// A numeric attribute, convertible to each compute type.
struct Scalar {
  double number = 0;
  int64_t integer = 0;
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, Int>)
      return {integer};
    else if constexpr (std::is_same_v<T, Complex>)
      return {static_cast<float>(number), 0};
    else
      return static_cast<T>(number);
  }
};
Scalar scalar_attr(const Attrs& attrs, AttrKey key, int64_t otherwise);

// An operand that is a number instead of a tensor.
struct FixedOperand {
  size_t operand;
  Scalar value;
};

// The kernel of `op` on the step's inputs number `inputs`. For the operand `fixed`, the input
// number is ignored. The compute type is that of dtype `compute`, by default the result's dtype.
// UNIMPLEMENTED: `op` is not defined for the compute type.
template <size_t N>
Prepared make_pointwise(const KernelArgs& args, const std::array<size_t, N>& inputs,
                        const PointwiseOp<N>& op, std::optional<Dtype> compute = {},
                        const std::optional<FixedOperand>& fixed = {});
// Two tensors, or one tensor and a number: attribute `self` on the left, `other` on the right.
Prepared make_binary(const KernelArgs& args, const PointwiseOp<2>& op,
                     std::optional<Dtype> compute);

template <size_t N, class Op>
Prepared prepare_pointwise(const KernelArgs& args, const std::array<size_t, N>& inputs,
                           const Op& op) {
  return make_pointwise(args, inputs, PointwiseOp<N>(op));
}

template <class Op>
Prepared prepare_unary(const KernelArgs& args, const Op& op, std::optional<Dtype> compute = {}) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  return make_pointwise(args, std::array<size_t, 1>{0}, PointwiseOp<1>(op), compute);
}

template <class Op>
Prepared prepare_binary(const KernelArgs& args, const Op& op, std::optional<Dtype> compute = {}) {
  return make_binary(args, PointwiseOp<2>(op), compute);
}

}  // namespace shw::runtime::cpu
