#include "runtime/collective/reduce.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "runtime/half.h"
#include "runtime/simd.h"

namespace shw::runtime {
namespace {

constexpr int64_t kBlock = 2048;  // elements; with 8-byte accumulators, half of an L1 cache

// How a dtype is stored, and in what it accumulates.
template <class Real>
struct Numeric {
  using S = Real;
  using A = Real;
  static A load(S s) { return s; }
  static S store(A a) { return a; }
  static A of_count(int64_t n) { return static_cast<A>(n); }
};
struct Bf16 {
  using S = uint16_t;
  using A = float;
  static A load(S s) { return bf16_to_f32(s); }
  static S store(A a) { return f32_to_bf16(a); }
  static A of_count(int64_t n) { return static_cast<A>(n); }
};
struct F16 {
  using S = uint16_t;
  using A = float;
  static A load(S s) { return f16_to_f32(s); }
  static S store(A a) { return f32_to_f16(a); }
  static A of_count(int64_t n) { return static_cast<A>(n); }
};
struct Bool {  // sum: any; product: all
  using S = uint8_t;
  using A = uint32_t;
  static A load(S s) { return s != 0; }
  static S store(A a) { return a != 0; }
};
// Signed integers accumulate in 64 bits and wrap, by way of unsigned arithmetic.
struct Wrapping {
  int64_t v;
  friend Wrapping operator+(Wrapping a, Wrapping b) { return of(a.u() + b.u()); }
  friend Wrapping operator*(Wrapping a, Wrapping b) { return of(a.u() * b.u()); }
  friend Wrapping operator/(Wrapping a, Wrapping b) { return {a.v / b.v}; }  // b: a group's size
  friend bool operator<(Wrapping a, Wrapping b) { return a.v < b.v; }

 private:
  uint64_t u() const { return static_cast<uint64_t>(v); }
  static Wrapping of(uint64_t u) { return {static_cast<int64_t>(u)}; }
};
template <class Stored>
struct Integer {
  using S = Stored;
  using A = Wrapping;
  static A load(S s) { return {static_cast<int64_t>(s)}; }
  static S store(A a) { return static_cast<S>(a.v); }
  static A of_count(int64_t n) { return {n}; }
};

template <ReduceOp op, class A>
A combine(A a, A b) {
  if constexpr (op == ReduceOp::kMax) return a < b ? b : a;
  if constexpr (op == ReduceOp::kMin) return b < a ? b : a;
  if constexpr (op == ReduceOp::kProduct) return a * b;
  return a + b;
}

template <ReduceOp op, class N>
void reduce(const ReduceBlock& block) {
  using S = typename N::S;
  using A = typename N::A;
  A acc[kBlock];
  S rounded[kBlock];
  for (int64_t begin = 0; begin < block.count; begin += kBlock) {
    const int64_t n = std::min(kBlock, block.count - begin);
    const S* source = static_cast<const S*>(block.sources[0]) + block.first + begin;
    vector_loop(n, [&](int64_t i) { acc[i] = N::load(source[i]); });
    for (int64_t m = 1; m < block.num_sources; ++m) {
      source = static_cast<const S*>(block.sources[m]) + block.first + begin;
      vector_loop(n, [&](int64_t i) { acc[i] = combine<op, A>(acc[i], N::load(source[i])); });
    }
    if constexpr (op == ReduceOp::kAvg) {
      const A members = N::of_count(block.num_sources);
      vector_loop(n, [&](int64_t i) { acc[i] = acc[i] / members; });
    }
    vector_loop(n, [&](int64_t i) { rounded[i] = N::store(acc[i]); });
    for (int64_t m = 0; m < block.num_results; ++m)
      std::memcpy(static_cast<S*>(block.results[m]) + block.result_first + begin, rounded,
                  static_cast<size_t>(n) * sizeof(S));
  }
}

// Complex numbers add component by component: twice as many f32.
template <ReduceOp op>
void reduce_complex(const ReduceBlock& block) {
  ReduceBlock parts = block;
  parts.first *= 2;
  parts.result_first *= 2;
  parts.count *= 2;
  reduce<op, Numeric<float>>(parts);
}

template <ReduceOp op>
ReduceFn of_dtype(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return reduce<op, Numeric<float>>;
    case Dtype::kF64:
      return reduce<op, Numeric<double>>;
    case Dtype::kF16:
      return reduce<op, F16>;
    case Dtype::kBF16:
      return reduce<op, Bf16>;
    case Dtype::kI8:
      return reduce<op, Integer<int8_t>>;
    case Dtype::kI16:
      return reduce<op, Integer<int16_t>>;
    case Dtype::kI32:
      return reduce<op, Integer<int32_t>>;
    case Dtype::kI64:
      return reduce<op, Integer<int64_t>>;
    case Dtype::kU8:
      return reduce<op, Integer<uint8_t>>;
    case Dtype::kBool:
      if constexpr (op != ReduceOp::kAvg) return reduce<op, Bool>;
      return nullptr;
    case Dtype::kC64:
      if constexpr (op == ReduceOp::kSum || op == ReduceOp::kAvg) return reduce_complex<op>;
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Result<ReduceFn> reduce_function(ReduceOp op, Dtype dtype) {
  ReduceFn fn = nullptr;
  switch (op) {
    case ReduceOp::kSum:
      fn = of_dtype<ReduceOp::kSum>(dtype);
      break;
    case ReduceOp::kAvg:
      fn = of_dtype<ReduceOp::kAvg>(dtype);
      break;
    case ReduceOp::kMax:
      fn = of_dtype<ReduceOp::kMax>(dtype);
      break;
    case ReduceOp::kMin:
      fn = of_dtype<ReduceOp::kMin>(dtype);
      break;
    case ReduceOp::kProduct:
      fn = of_dtype<ReduceOp::kProduct>(dtype);
      break;
  }
  if (fn == nullptr)
    return invalid_argument("the " + std::string(reduce_op_name(op)) + " of " +
                            std::string(dtype_name(dtype)) + " over ranks has no meaning");
  return fn;
}

Result<ReduceFn> reduction_of(const CollectiveSpec& spec) {
  return reduces(spec.kind) ? reduce_function(spec.op, spec.dtype) : ReduceFn(nullptr);
}

}  // namespace shw::runtime
