// Tensors in host memory as numbers: what errors are measured in.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/host_tensor.h"

namespace shw {

// Row-major, without gaps.
std::vector<std::byte> dense_bytes(const runtime::HostTensorView& tensor);

// The elements in row-major order, exact but for integers beyond 2^53; a complex number is two.
std::vector<double> numbers_of(const runtime::HostTensorView& tensor);
// The elements of a tensor of integers or truth values.
std::vector<int64_t> integers_of(const runtime::HostTensorView& tensor);

// Half the distance from 1 to the next number: what rounding to `dtype` may change a number by,
// relative to it. 0 for integers.
double unit_roundoff(Dtype dtype);

// A copy in which every finite number but 0 is moved to the next one up or down, or kept, at
// random. Integers stay. The same seed gives the same copy.
runtime::HostTensor perturbed(const runtime::HostTensorView& tensor, uint64_t seed);

// Of the difference of two sequences, where both numbers are finite.
struct Distance {
  double difference = 0;    // Frobenius norm of a − b
  double norm = 0;          // of b
  double along = 0;         // of the part of a − b that is a multiple of b
  uint64_t count = 0;       // numbers that were compared
  uint64_t not_finite = 0;  // numbers that are not finite in a or b, and not the same
};
Distance distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace shw
