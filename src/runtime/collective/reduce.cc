#include "runtime/collective/reduce.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "runtime/collective/past_caches.h"
#include "runtime/half.h"
#include "runtime/simd.h"

namespace shw::runtime {
namespace {

constexpr size_t kBlockBytes = 16384;  // size of the accumulators: half of a first-level cache

// The functions that reduce a block of elements that stays in the cache. Only these loops are
// compiled for each operation and type; the code that iterates over sources, blocks and results
// exists once.
struct Arithmetic {
  size_t stored;       // element size in bytes
  size_t accumulated;  // accumulator size in bytes
  // Loads the first source; null: its bytes are copied unchanged.
  void (*begin)(const void* source, int64_t n, void* sums);
  // Adds each further source.
  void (*join)(const void* source, int64_t n, void* sums);
  // Converts accumulators to results; null: they are the results.
  void (*finish)(const void* sums, int64_t n, int64_t members, void* results);
};

void reduce(const ReduceBlock& block, const Arithmetic& a) {
  alignas(64) std::byte sums[kBlockBytes];
  alignas(64) std::byte rounded[kBlockBytes];
  const auto size = static_cast<int64_t>(a.stored);
  const auto most = static_cast<int64_t>(block.past_caches ? kPastCachesBlock / a.stored
                                                           : kBlockBytes / a.accumulated);
  const auto copy = block.past_caches ? copy_past_caches : copy_through_caches;
  for (int64_t begin = 0; begin < block.count; begin += most) {
    const int64_t n = std::min(most, block.count - begin);
    const auto bytes = static_cast<size_t>(n * size);
    const auto source = [&](int64_t m) {
      return static_cast<const std::byte*>(block.sources[m]) + (block.first + begin) * size;
    };
    if (a.begin == nullptr)
      std::memcpy(sums, source(0), bytes);
    else
      a.begin(source(0), n, sums);
    for (int64_t m = 1; m < block.num_sources; ++m) a.join(source(m), n, sums);
    if (a.finish != nullptr) a.finish(sums, n, block.num_sources, rounded);
    for (int64_t m = 0; m < block.num_results; ++m)
      copy(static_cast<std::byte*>(block.results[m]) + (block.result_first + begin) * size,
           a.finish == nullptr ? sums : rounded, bytes);
  }
}

// The storage type (S) and the accumulator type (A) of a dtype.
template <class Number>
struct Plain {
  using S = Number;
  using A = Number;
  static A load(S s) { return s; }
  static S store(A a) { return a; }
};
struct Bf16 {
  using S = uint16_t;
  using A = float;
  static A load(S s) { return bf16_to_f32(s); }
  static S store(A a) { return f32_to_bf16(a); }
};
struct F16 {
  using S = uint16_t;
  using A = float;
  static A load(S s) { return f16_to_f32(s); }
  static S store(A a) { return f32_to_f16(a); }
};
struct Bool {  // sum and maximum: any; product and minimum: all
  using S = uint8_t;
  using A = uint8_t;
  static A load(S s) { return s != 0; }
  static S store(A a) { return a; }
};

template <ReduceOp op, class A>
A combine(A a, A b) {
  if constexpr (op == ReduceOp::kMax) return a < b ? b : a;
  if constexpr (op == ReduceOp::kMin) return b < a ? b : a;
  if constexpr (std::is_floating_point_v<A>)
    return op == ReduceOp::kProduct ? a * b : a + b;
  else  // computed unsigned and at least as wide as int, so it wraps
    return static_cast<A>(op == ReduceOp::kProduct ? 1u * a * b : 1u * a + b);
}

template <class N>
void begin_sums(const void* source, int64_t n, void* sums) {
  const auto* from = static_cast<const typename N::S*>(source);
  auto* to = static_cast<typename N::A*>(sums);
  vector_loop(n, [=](int64_t i) { to[i] = N::load(from[i]); });
}

template <ReduceOp op, class N>
void join_sums(const void* source, int64_t n, void* sums) {
  const auto* from = static_cast<const typename N::S*>(source);
  auto* to = static_cast<typename N::A*>(sums);
  vector_loop(n, [=](int64_t i) { to[i] = combine<op>(to[i], N::load(from[i])); });
}

template <bool divides, class N>
void finish_sums(const void* sums, int64_t n, int64_t members, void* results) {
  using A = typename N::A;
  const auto* from = static_cast<const A*>(sums);
  auto* to = static_cast<typename N::S*>(results);
  const A count = divides ? static_cast<A>(members) : A{1};
  vector_loop(n, [=](int64_t i) { to[i] = N::store(divides ? from[i] / count : from[i]); });
}

// An average first adds.
template <ReduceOp op, class N>
void reduce_as(const ReduceBlock& block) {
  using S = typename N::S;
  using A = typename N::A;
  constexpr bool averages = op == ReduceOp::kAvg;
  constexpr bool converts = !std::is_same_v<S, A>;
  Arithmetic a{sizeof(S), sizeof(A), nullptr, join_sums < averages ? ReduceOp::kSum : op,
               N >,       nullptr};
  if constexpr (converts || std::is_same_v<N, Bool>) a.begin = begin_sums<N>;
  if constexpr (converts || averages) a.finish = finish_sums<averages, N>;
  reduce(block, a);
}

// Sums and products of signed and unsigned integers wrap to the same bits; comparisons differ.
template <ReduceOp op, class Integer>
void reduce_integers(const ReduceBlock& block) {
  if constexpr (op == ReduceOp::kSum || op == ReduceOp::kProduct)
    reduce_as<op, Plain<std::make_unsigned_t<Integer>>>(block);
  else
    reduce_as<op, Plain<Integer>>(block);
}

// A 64-bit sum, divided towards zero. The divisions run one at a time, so optimising the rest would
// gain little.
template <class Integer>
void average_integers(const ReduceBlock& block) {
  for (int64_t i = 0; i < block.count; ++i) {
    uint64_t sum = 0;
    for (int64_t m = 0; m < block.num_sources; ++m)
      sum += static_cast<uint64_t>(
          static_cast<int64_t>(static_cast<const Integer*>(block.sources[m])[block.first + i]));
    const auto average = static_cast<Integer>(static_cast<int64_t>(sum) / block.num_sources);
    for (int64_t m = 0; m < block.num_results; ++m)
      static_cast<Integer*>(block.results[m])[block.result_first + i] = average;
  }
}

// Complex numbers are added component by component, as twice as many f32.
template <ReduceOp op>
void reduce_complex(const ReduceBlock& block) {
  ReduceBlock parts = block;
  parts.first *= 2;
  parts.result_first *= 2;
  parts.count *= 2;
  reduce_as<op, Plain<float>>(parts);
}

template <ReduceOp op, class Integer>
ReduceFn of_integer() {
  if constexpr (op == ReduceOp::kAvg)
    return average_integers<Integer>;
  else
    return reduce_integers<op, Integer>;
}

template <ReduceOp op>
ReduceFn of_dtype(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return reduce_as<op, Plain<float>>;
    case Dtype::kF64:
      return reduce_as<op, Plain<double>>;
    case Dtype::kF16:
      return reduce_as<op, F16>;
    case Dtype::kBF16:
      return reduce_as<op, Bf16>;
    case Dtype::kI8:
      return of_integer<op, int8_t>();
    case Dtype::kI16:
      return of_integer<op, int16_t>();
    case Dtype::kI32:
      return of_integer<op, int32_t>();
    case Dtype::kI64:
      return of_integer<op, int64_t>();
    case Dtype::kU8:
      return of_integer<op, uint8_t>();
    case Dtype::kBool:
      if constexpr (op == ReduceOp::kSum || op == ReduceOp::kMax)
        return reduce_as<ReduceOp::kMax, Bool>;
      else if constexpr (op != ReduceOp::kAvg)
        return reduce_as<ReduceOp::kMin, Bool>;
      return nullptr;
    case Dtype::kC64:
      if constexpr (op == ReduceOp::kSum || op == ReduceOp::kAvg) return reduce_complex<op>;
      return nullptr;
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return nullptr;  // not supported as partial values
  }
  return nullptr;
}

}  // namespace

Result<ReduceFn> reduce_function(ReduceOp op, Dtype dtype) {
  if (is_float8(dtype))
    return unimplemented("8-bit floats are not reduced over ranks: reduce in a wider float");
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
