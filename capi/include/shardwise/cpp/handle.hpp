// What all handles share, and spans, which C++17 lacks.
#ifndef SHARDWISE_CPP_HANDLE_HPP_
#define SHARDWISE_CPP_HANDLE_HPP_

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "shardwise/cpp/result.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// A row of elements that somebody else owns.
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  // Of an array, a vector, a std::array, a std::string_view, …
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  template <class C, class = std::enable_if_t<
                         std::is_convertible_v<decltype(std::data(std::declval<C&>())), T*>>>
  constexpr Span(C&& row) noexcept : data_(std::data(row)), size_(std::size(row)) {}
  // Of a list in braces, which lives until the end of the statement.
  // NOLINTNEXTLINE(google-explicit-constructor)
  template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<std::remove_const_t<U>> list) noexcept
      : Span(std::data(list), list.size()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Owns a handle of C. Moved, never copied.
template <class T, void (*Destroy)(T*)>
class Handle {
 public:
  using Raw = T;
  Handle() = default;
  explicit Handle(T* raw) noexcept : raw_(raw) {}
  T* get() const noexcept { return raw_.get(); }
  T* release() noexcept { return raw_.release(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

 private:
  struct Destroyer {
    void operator()(T* raw) const noexcept { Destroy(raw); }
  };
  std::unique_ptr<T, Destroyer> raw_;
};

namespace detail {

// Calls what makes a handle: call(&raw).
template <class H, class Call>
Returned<H> make(const Call& call) {
  typename H::Raw* raw = nullptr;
  shw_status* status = call(&raw);
  return give(status, H(raw));
}

// Calls what finds an index: call(&index).
template <class Call>
Returned<std::size_t> find(const Call& call) {
  std::size_t index = SHW_NONE;
  shw_status* status = call(&index);
  return give(status, index);
}

// Calls what fills a struct: call(&row).
template <class Row, class Call>
Returned<Row> fill(void (*init)(Row*, std::size_t), const Call& call) {
  Row row;
  init(&row, sizeof row);
  shw_status* status = call(&row);
  return give(status, row);
}

// A struct with its defaults.
template <class Row>
Row defaults(void (*init)(Row*, std::size_t)) {
  Row row;
  init(&row, sizeof row);
  return row;
}

}  // namespace detail
}  // namespace SHARDWISE_MODE
}  // namespace shardwise

// num_<rows>() and <row>(index) of a handle; strings and arrays in rows are lent by it. A summary,
// and documents.
#define SHARDWISE_ROWS(prefix, rows, row, type)                                        \
  std::size_t num_##rows() const noexcept { return shw_##prefix##_num_##rows(get()); } \
  Returned<shw_##type> row(std::size_t index) const {                                  \
    return detail::fill<shw_##type>(shw_##type##_init, [&](shw_##type* out) {          \
      return shw_##prefix##_get_##row(get(), index, out);                              \
    });                                                                                \
  }
#define SHARDWISE_SUMMARY(prefix, name)                                                     \
  Returned<shw_##prefix##_##name> name() const {                                            \
    return detail::fill<shw_##prefix##_##name>(                                             \
        shw_##prefix##_##name##_init,                                                       \
        [&](shw_##prefix##_##name* out) { return shw_##prefix##_get_##name(get(), out); }); \
  }
#define SHARDWISE_DOCUMENT(prefix, name)                                                          \
  Returned<Blob> name() const {                                                                   \
    return detail::make<Blob>([&](shw_blob** out) { return shw_##prefix##_##name(get(), out); }); \
  }

#endif  // SHARDWISE_CPP_HANDLE_HPP_
