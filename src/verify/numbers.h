// Tensors in host memory as numbers, for measuring errors.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/host_tensor.h"

namespace shw {

// Row-major, without gaps.
std::vector<std::byte> dense_bytes(const runtime::HostTensorView& tensor);

// The elements in row-major order, exact except for integers beyond 2^53; a complex number is two
// elements.
std::vector<double> numbers_of(const runtime::HostTensorView& tensor);
// The elements of an integer or boolean tensor.
std::vector<int64_t> integers_of(const runtime::HostTensorView& tensor);

// Half the distance from 1 to the next number: the maximum relative error of rounding to `dtype`. 0
// for integers.
double unit_roundoff(Dtype dtype);

// A copy in which every finite nonzero number randomly moves to its next neighbour up or down, or
// stays. Integers stay. Reproducible from the seed.
runtime::HostTensor perturbed(const runtime::HostTensorView& tensor, uint64_t seed);

// Of the difference of two sequences, over the positions where both are finite.
struct Distance {
  double difference = 0;    // Frobenius norm of a − b
  double norm = 0;          // of b
  double along = 0;         // norm of the component of a − b parallel to b
  uint64_t count = 0;       // numbers compared
  uint64_t not_finite = 0;  // numbers not finite in a or b, and different
};
Distance distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace shw
