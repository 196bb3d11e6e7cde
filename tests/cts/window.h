// Tensors as tests see them: a strided window into bytes that are all accounted for. References are
// computed in complex<double> element by element, and share no code with the kernels.
#pragma once
#include <complex>
#include <cstring>
#include <functional>
#include <vector>

#include "tensor/tensor_type.h"

namespace shw::cts {

using Number = std::complex<double>;
using Index = std::vector<int64_t>;

// How a window lies in memory.
enum class Lie {
  kDense,     // row-major
  kReversed,  // the first dim is the nearest: what a transposed view looks like
  kGaps,      // every second element, with a first element that is not the first of the storage
  kPadded,    // rows longer than their content
  kExpanded,  // stride 0 along the first dim
  kShifted,   // dense, with a first element that is not the first of the storage
};
inline constexpr Lie kReadable[] = {Lie::kDense, Lie::kReversed, Lie::kGaps, Lie::kPadded,
                                    Lie::kExpanded};
inline constexpr Lie kWritable[] = {Lie::kDense, Lie::kReversed, Lie::kGaps, Lie::kPadded};

class Window {
 public:
  Window(Dtype dtype, const Dims& shape, Lie lie = Lie::kDense);
  // Elements in row-major order become f(0), f(1), …
  Window& fill(const std::function<Number(int64_t)>& f);

  // The same elements in another order of dims, as a view has them: dim d becomes what was
  // order[d].
  Window& permute(const std::vector<size_t>& order);

  const TensorType& type() const { return type_; }
  Dtype dtype() const { return type_.dtype; }
  const Dims& shape() const { return type_.shape; }
  int64_t numel() const { return type_.numel(); }

  Number get(const Index& index) const;
  void set(const Index& index, Number value);
  // As above, of an index of a shape to which this one broadcasts.
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

// Small whole numbers without a pattern, −4 … 4; not negative for types without sign.
std::function<Number(int64_t)> whole_numbers(Dtype dtype, int salt = 0);
// Fractions in (−2, 2) without a pattern.
std::function<Number(int64_t)> fractions(int salt = 0);

}  // namespace shw::cts
