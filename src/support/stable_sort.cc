#include "support/stable_sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>

namespace shw {
namespace {

constexpr size_t kShort = 16;        // elements that are sorted without asking for memory
constexpr size_t kShortBytes = 512;  // that they may have together

// Puts positions in order.
void sort_positions(std::span<uint32_t> order, const std::byte* elements, size_t element_bytes,
                    ComesBefore before, const void* less) {
  std::iota(order.begin(), order.end(), 0u);
  const auto earlier = [=](uint32_t a, uint32_t b) {
    return before(less, elements + a * element_bytes, elements + b * element_bytes);
  };
  if (order.size() > kShort) {
    std::stable_sort(order.begin(), order.end(), earlier);
    return;
  }
  for (size_t i = 1; i < order.size(); ++i) {
    const uint32_t moved = order[i];
    size_t to = i;
    for (; to > 0 && earlier(moved, order[to - 1]); --to) order[to] = order[to - 1];
    order[to] = moved;
  }
}

// `buffer` has room for all elements.
void apply_order(std::span<const uint32_t> order, std::byte* elements, size_t element_bytes,
                 std::byte* buffer) {
  for (size_t i = 0; i < order.size(); ++i)
    std::memcpy(buffer + i * element_bytes, elements + order[i] * element_bytes, element_bytes);
  std::memcpy(elements, buffer, order.size() * element_bytes);
}

}  // namespace

std::vector<uint32_t> stable_order(const void* elements, size_t count, size_t element_bytes,
                                   ComesBefore before, const void* less) {
  std::vector<uint32_t> order(count);
  sort_positions(order, static_cast<const std::byte*>(elements), element_bytes, before, less);
  return order;
}

void stable_sort_bytes(void* elements, size_t count, size_t element_bytes, ComesBefore before,
                       const void* less) {
  if (count < 2) return;
  auto* bytes = static_cast<std::byte*>(elements);
  if (count <= kShort && count * element_bytes <= kShortBytes) {
    std::array<uint32_t, kShort> positions{};
    std::array<std::byte, kShortBytes> buffer{};
    const std::span<uint32_t> order(positions.data(), count);
    sort_positions(order, bytes, element_bytes, before, less);
    apply_order(order, bytes, element_bytes, buffer.data());
    return;
  }
  const std::vector<uint32_t> order = stable_order(elements, count, element_bytes, before, less);
  std::vector<std::byte> buffer(count * element_bytes);
  apply_order(order, bytes, element_bytes, buffer.data());
}

}  // namespace shw
