// Items grouped by a number, each group in the order given: a stable counting sort into one array.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace shw {

template <class T>
class Buckets {
 public:
  // `key_of(item)` is below `num_keys`. At most 2^32 - 1 items.
  template <class KeyOf>
  Buckets(std::span<const T> items, size_t num_keys, KeyOf key_of)
      : begins_(num_keys + 1), items_(items.size()) {
    for (const T& item : items) ++begins_[key_of(item) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (const T& item : items) items_[next[key_of(item)]++] = item;
  }

  size_t size() const { return begins_.size() - 1; }  // keys
  std::span<const T> operator[](size_t key) const {
    return std::span<const T>(items_).subspan(begins_[key], begins_[key + 1] - begins_[key]);
  }

 private:
  std::vector<uint32_t> begins_;  // by key, and the end
  std::vector<T> items_;
};

}  // namespace shw
