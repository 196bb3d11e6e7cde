// Typed 32-bit indices into flat tables; indices of different tables have different types.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace shw {

template <class Tag>
struct Id {
  uint32_t v = UINT32_MAX;
  constexpr bool valid() const { return v != UINT32_MAX; }
  constexpr auto operator<=>(const Id&) const = default;
};

template <class I, class T>
class IndexVec {
 public:
  IndexVec() = default;
  explicit IndexVec(size_t n, const T& value = T()) : data_(n, value) {}
  T& operator[](I i) { return data_[i.v]; }
  const T& operator[](I i) const { return data_[i.v]; }
  I push_back(T t) {
    data_.push_back(std::move(t));
    return I{static_cast<uint32_t>(data_.size() - 1)};
  }
  size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }
  void reserve(size_t n) { data_.reserve(n); }
  auto begin() { return data_.begin(); }
  auto end() { return data_.end(); }
  auto begin() const { return data_.begin(); }
  auto end() const { return data_.end(); }

 private:
  std::vector<T> data_;
};

}  // namespace shw
