// The boundary between C and C++: no exception and no C++ type crosses it.
//
// Every exported function that can fail has the form
//   return guard([&]() -> Status { check arguments; convert; call; convert; });
// or, if it creates a handle, make_handle(out, "out_plan", [&]() -> Result<unique_ptr<…>> { … }).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "shardwise/base.h"
#include "support/status.h"

// Trivially destructible, so that the status for exhausted memory can be a constant.
struct shw_status {
  shw_code code;
  const char* message;
  size_t node_index;
  const char* node_name;
  const char* const* conflicts;
  size_t num_conflicts;
  const char* file;
  int32_t line;
};

namespace shw::capi {

// A constant, because reporting exhausted memory must not allocate.
shw_status* out_of_memory();

// The path of a source file relative to the project's root. Messages must not reveal where the
// library was built.
const char* short_path(const char* file);

// NULL for OK.
shw_status* to_c(const Status& status) noexcept;

// Converts the exception that is being handled. Call only in a catch block.
shw_status* caught() noexcept;

template <class F>
shw_status* guard(F&& body) noexcept {
  try {
    return to_c(std::forward<F>(body)());
  } catch (...) {
    return caught();
  }
}

Status null_argument(const char* name, SourceLoc loc = SourceLoc::current());
#define SHW_WANT(pointer) \
  if ((pointer) == nullptr) return ::shw::capi::null_argument(#pointer)

// `*out` is written in any case. `body` returns Result<std::unique_ptr<T>>.
template <class T, class F>
shw_status* make_handle(T** out, const char* out_name, F&& body) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard([&]() -> Status {
    if (out == nullptr) return null_argument(out_name);
    SHW_ASSIGN_OR_RETURN(std::unique_ptr<T> handle, std::forward<F>(body)());
    *out = handle.release();
    return {};
  });
}

// No struct of this interface is near this size: a larger struct_size is a wild value.
inline constexpr size_t kMaxStructSize = 4096;

Status check_struct_size(size_t size, size_t min_size);
// The error for a field that is set and unknown to this library.
Status too_new();

// The size of a struct up to and including the last field of the release that introduced it: the
// minimum of a caller's struct_size.
#define SHW_SIZE_TO(type, field) (offsetof(type, field) + sizeof(type::field))

// Reads a struct of the caller. If it is shorter than ours (an older caller), the rest becomes
// zero. If it is longer (a newer caller), the unknown part must be all zero. `min_size` is the
// struct's size in the first release that had it. NULL: all defaults.
template <class T>
Result<T> copy_in(const T* in, size_t min_size) {
  static_assert(std::is_trivially_copyable_v<T>);
  T ours{};
  if (in != nullptr) {
    const size_t size = in->struct_size;
    SHW_RETURN_IF_ERROR(check_struct_size(size, min_size));
    const auto* bytes = reinterpret_cast<const unsigned char*>(in);
    if (size > sizeof(T) &&
        std::any_of(bytes + sizeof(T), bytes + size, [](unsigned char b) { return b != 0; }))
      return too_new();
    std::memcpy(&ours, in, std::min(size, sizeof(T)));
  }
  ours.struct_size = sizeof(T);
  return ours;
}

// Zeroes the part of a caller's struct of `size` bytes after its struct_size field. Checks
// struct_size first.
Status clear_out(void* out, size_t size, size_t min_size);

// Writes the part of a struct that the caller knows; struct_size is unchanged.
template <class T>
void copy_out(T* out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(reinterpret_cast<unsigned char*>(out) + sizeof(size_t),
              reinterpret_cast<const unsigned char*>(&value) + sizeof(size_t),
              std::min(out->struct_size, sizeof(T)) - sizeof(size_t));
}

// An extensible struct as an out-parameter: `body` fills a T that starts as zeros.
template <class T, class F>
shw_status* fill_struct(T* out, const char* out_name, size_t min_size, F&& body) noexcept {
  return guard([&]() -> Status {
    if (out == nullptr) return null_argument(out_name);
    SHW_RETURN_IF_ERROR(clear_out(out, out->struct_size, min_size));
    T value{};
    SHW_RETURN_IF_ERROR(std::forward<F>(body)(value));
    copy_out(out, value);
    return {};
  });
}

// A frozen struct or a number as an out-parameter; `unset` on failure.
template <class T, class F>
shw_status* fill_value(T* out, const char* out_name, F&& body, T unset = T{}) noexcept {
  if (out != nullptr) *out = unset;
  return guard([&]() -> Status {
    if (out == nullptr) return null_argument(out_name);
    T value = unset;
    SHW_RETURN_IF_ERROR(std::forward<F>(body)(value));
    *out = value;
    return {};
  });
}

// Implements every `_init` function.
template <class T>
void init_struct(T* out, size_t size) noexcept {
  if (out == nullptr || size < sizeof(size_t)) return;
  std::memset(static_cast<void*>(out), 0, size);
  out->struct_size = size;
}

Status check_index(size_t index, size_t count, const char* what,
                   SourceLoc loc = SourceLoc::current());
Status check_flags(uint64_t flags, uint64_t known, SourceLoc loc = SourceLoc::current());
Status check_reserved(int64_t value, SourceLoc loc = SourceLoc::current());

}  // namespace shw::capi
