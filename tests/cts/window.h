// Tensors for kernel tests. A window is a strided view into bytes, and the tests check every byte,
// also those outside the elements. References are computed in complex<double>, element by element,
// and share no code with the kernels.
#pragma once
#include <complex>
#include <cstring>
#include <functional>
#include <vector>

#include "tensor/tensor_type.h"

namespace shw::cts {

using Number = std::complex<double>;
using Index = std::vector<int64_t>;

// The memory layout of a window.
enum class Lie {
  kDense,     // row-major
  kReversed,  // the first dim is contiguous, as in a transposed view
  kGaps,      // every second element of the storage, not beginning with the first one
  kPadded,    // rows with padding at their end
  kExpanded,  // stride 0 along the first dim
  kShifted,   // dense, but beginning behind the first element of the storage
};
inline constexpr Lie kReadable[] = {Lie::kDense, Lie::kReversed, Lie::kGaps, Lie::kPadded,
                                    Lie::kExpanded};
inline constexpr Lie kWritable[] = {Lie::kDense, Lie::kReversed, Lie::kGaps, Lie::kPadded};

class Window {
 public:
  Window(Dtype dtype, const Dims& shape, Lie lie = Lie::kDense);
  // Sets the elements, in row-major order, to f(0), f(1), …
  Window& fill(const std::function<Number(int64_t)>& f);

  // Permutes the dims without moving elements, as a view does: the new dim d is the old dim
  // order[d].
  Window& permute(const std::vector<size_t>& order);

  const TensorType& type() const { return type_; }
  Dtype dtype() const { return type_.dtype; }
  const Dims& shape() const { return type_.shape; }
  int64_t numel() const { return type_.numel(); }

  Number get(const Index& index) const;
  void set(const Index& index, Number value);
  // Like get(), with an index of a shape to which this window's shape broadcasts.
  Number broadcast(const Index& index) const;

  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  int64_t offset_bytes() const { return offset_; }
  // The bytes that belong to no element, in order.
  std::vector<std::byte> gaps() const;

 private:
  size_t place(const Index& index) const;
  TensorType type_;
  int64_t offset_ = 0;
  std::vector<std::byte> bytes_;
};

// Calls f with each index of `shape`, row-major.
void for_each_index(const Dims& shape, const std::function<void(const Index&)>& f);

// `value` as it is after being stored as `dtype`.
Number rounded(Dtype dtype, Number value);

// Pseudo-random whole numbers from −4 to 4; from unsigned types only non-negative ones.
std::function<Number(int64_t)> whole_numbers(Dtype dtype, int salt = 0);
// Pseudo-random fractions in (−2, 2).
std::function<Number(int64_t)> fractions(int salt = 0);

}  // namespace shw::cts
