// Shape, strides and dtype of a tensor: the vocabulary that compiler and runtime share.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "support/status.h"
#include "tensor/dtype.h"

namespace shw {

inline constexpr int kMaxRank = 8;

// The sizes or strides of one tensor: at most kMaxRank int64, stored in place.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> d) {
    for (int64_t x : d) push_back(x);
  }
  explicit Dims(std::span<const int64_t> d) {
    for (int64_t x : d) push_back(x);
  }  // d.size() ≤ kMaxRank: checked by the callers that read outside data
  Dims(size_t n, int64_t value) {
    for (size_t i = 0; i < n; ++i) push_back(value);
  }
  void push_back(int64_t x) { v_[n_++] = x; }
  void insert(size_t at, int64_t x) {
    std::copy_backward(v_.begin() + at, v_.begin() + n_, v_.begin() + n_ + 1);
    v_[at] = x;
    ++n_;
  }
  void erase(size_t at) {
    std::copy(v_.begin() + at + 1, v_.begin() + n_, v_.begin() + at);
    v_[--n_] = 0;
  }
  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  int64_t& operator[](size_t i) { return v_[i]; }
  int64_t operator[](size_t i) const { return v_[i]; }
  int64_t back() const { return v_[n_ - 1]; }
  int64_t* begin() { return v_.data(); }
  int64_t* end() { return v_.data() + n_; }
  const int64_t* begin() const { return v_.data(); }
  const int64_t* end() const { return v_.data() + n_; }
  std::span<const int64_t> span() const { return {v_.data(), n_}; }
  bool operator==(const Dims& o) const = default;  // unused elements stay 0

 private:
  std::array<int64_t, kMaxRank> v_{};
  size_t n_ = 0;
};

struct TensorType {
  Dims shape;
  Dims strides;  // in elements; same length as shape
  Dtype dtype = Dtype::kF32;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t numel() const;  // overflow is excluded by check_tensor_type
  int64_t bytes() const { return numel() * dtype_size(dtype); }
  bool contiguous() const;  // row-major without gaps; dims of size 1 do not count
  bool operator==(const TensorType&) const = default;
};

Dims row_major_strides(const Dims& shape);  // where a size would overflow: the limit of
                                            // check_tensor_type, which refuses the type
TensorType row_major(Dtype dtype, Dims shape);
uint64_t hash_of(const TensorType& type);

// Dims ≥ 0, one stride per dim, neither more bytes nor more elements spanned by any dim's stride
// than a stated limit of 2^60: products of the two do not overflow int64.
Status check_tensor_type(const TensorType& type);

// Parses "f32[4,8]" as a row-major type. INVALID_ARGUMENT: an unknown dtype, an invalid list of
// sizes, or more dims than kMaxRank.
Result<TensorType> parse_tensor_type(std::string_view text);
std::string to_string(const TensorType& type);  // "f32[4,8]"; with strides when they are not
                                                // row-major: "f32[4,8]{1,4}"

}  // namespace shw
