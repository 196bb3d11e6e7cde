// A vector of small elements that holds up to N of them in place, without an allocation.
//
// For lists that are nearly always short, of which there are many: the operands of each step of a
// program. Walking over such lists then reads memory in order. N = 4 indices take as many bytes as
// a std::vector without its elements.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace shw {

template <class T, uint32_t N>
class SmallVec {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVec() = default;
  explicit SmallVec(size_t size, T value = T()) { resize(size, value); }
  SmallVec(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  // From a range of such elements, as of a std::vector or a span.
  template <std::ranges::contiguous_range R>
  requires(std::is_same_v<std::remove_cvref_t<std::ranges::range_reference_t<R>>, T> &&
           !std::is_same_v<std::remove_cvref_t<R>, SmallVec>) SmallVec(const R& range) {
    append(std::ranges::data(range), std::ranges::data(range) + std::ranges::size(range));
  }
  template <std::input_iterator I>
  SmallVec(I first, I last) {
    append(first, last);
  }
  SmallVec(const SmallVec& other) { append(other.begin(), other.end()); }
  SmallVec(SmallVec&& other) noexcept { take(other); }
  SmallVec& operator=(const SmallVec& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVec& operator=(SmallVec&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~SmallVec() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return is_in_place() ? reinterpret_cast<T*>(bytes_) : elsewhere(); }
  const T* data() const { return is_in_place() ? reinterpret_cast<const T*>(bytes_) : elsewhere(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(size_t capacity) {
    if (capacity > capacity_) grow(static_cast<uint32_t>(capacity));
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(2 * capacity_);
    std::construct_at(data() + size_, value);
    ++size_;
  }
  void pop_back() { --size_; }
  void resize(size_t size, T value = T()) {
    reserve(size);
    while (size_ < size) push_back(value);
    size_ = static_cast<uint32_t>(size);
  }
  template <class I>
  void assign(I first, I last) {  // not from this list itself
    clear();
    append(first, last);
  }
  template <class I>
  void append(I first, I last) {  // not from this list itself
    if constexpr (std::random_access_iterator<I>)
      reserve(size_ + static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(*first);
  }
  T* insert(const T* at, T value) {
    const std::ptrdiff_t place = at - begin();
    push_back(value);
    std::rotate(begin() + place, end() - 1, end());
    return begin() + place;
  }
  T* erase(const T* at) { return erase(at, at + 1); }
  T* erase(const T* first, const T* last) {
    T* to = begin() + (first - begin());
    size_ = static_cast<uint32_t>(std::copy(begin() + (last - begin()), end(), to) - begin());
    return to;
  }

  bool operator==(const SmallVec& other) const { return std::ranges::equal(*this, other); }
  auto operator<=>(const SmallVec& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr size_t kBytes = std::max(N * sizeof(T), sizeof(T*));

  bool is_in_place() const { return capacity_ <= N; }
  T* elsewhere() const {
    T* at;
    std::memcpy(&at, bytes_, sizeof at);
    return at;
  }
  void release() {
    if (!is_in_place()) std::allocator<T>().deallocate(elsewhere(), capacity_);
  }
  void take(SmallVec& other) {
    std::memcpy(bytes_, other.bytes_, kBytes);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }
  void grow(uint32_t capacity) {
    T* const to = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), to);
    release();
    std::memcpy(bytes_, &to, sizeof to);
    capacity_ = capacity;
  }

  uint32_t size_ = 0, capacity_ = N;
  // The elements, or the address of more than N of them.
  alignas(alignof(T) > alignof(T*) ? alignof(T) : alignof(T*)) std::byte bytes_[kBytes];
};

// Removes the elements for which `goes` holds; returns how many.
template <class T, uint32_t N, class Goes>
size_t erase_if(SmallVec<T, N>& list, Goes goes) {
  T* const rest = std::remove_if(list.begin(), list.end(), goes);
  const auto gone = static_cast<size_t>(list.end() - rest);
  list.erase(rest, list.end());
  return gone;
}
template <class T, uint32_t N>
size_t erase(SmallVec<T, N>& list, const T& value) {
  return erase_if(list, [&](const T& x) { return x == value; });
}

}  // namespace shw
