// Sorts a range stably: equal elements keep their order.
//
// std::stable_sort generates 4 KB of machine code for each element type and comparison, and most
// ranges that need it are short. This file has a single sort of positions, which calls the
// comparison through a pointer. Only the comparison, and the move of elements that own memory, are
// compiled for each use.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace shw {

// Whether the element at `a` comes before the one at `b`. Neither pointer is null.
using ComesBefore = bool (*)(const void* less, const void* a, const void* b);

// The positions of the elements in sorted order.
std::vector<uint32_t> stable_order(const void* elements, size_t count, size_t element_bytes,
                                   ComesBefore before, const void* less);
// Sorts elements that may be copied as bytes.
void stable_sort_bytes(void* elements, size_t count, size_t element_bytes, ComesBefore before,
                       const void* less);

// Sorts by the keys of the elements, in the order of `less`. The elements must be contiguous; at
// most 2^32.
template <class Range, class Less = std::ranges::less, class Key = std::identity>
void sort_stably(Range& range, Less less = {}, Key key = {}) {
  using T = std::remove_reference_t<decltype(*std::begin(range))>;
  const auto by_key = [&](const T& a, const T& b) -> bool {
    return std::invoke(less, std::invoke(key, a), std::invoke(key, b));
  };
  const ComesBefore before = [](const void* context, const void* a, const void* b) {
    return (*static_cast<decltype(&by_key)>(context))(*static_cast<const T*>(a),
                                                      *static_cast<const T*>(b));
  };
  T* const elements = std::to_address(std::begin(range));
  if constexpr (std::is_trivially_copyable_v<T>) {
    stable_sort_bytes(elements, std::size(range), sizeof(T), before, &by_key);
  } else {
    const std::vector<uint32_t> order =
        stable_order(elements, std::size(range), sizeof(T), before, &by_key);
    std::vector<T> sorted;
    sorted.reserve(order.size());
    for (const uint32_t i : order) sorted.push_back(std::move(elements[i]));
    for (size_t i = 0; i < order.size(); ++i) elements[i] = std::move(sorted[i]);
  }
}

}  // namespace shw
