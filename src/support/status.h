// Status and Result, returned by every function that can fail. Codes are gRPC's, with the numbers
// of the C API (capi/include/shardwise/base.h). A status may name the node of the graph that
// caused it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shw {

enum class Code : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};

struct SourceLoc {  // std::source_location is missing under clang 14
  const char* file = "";
  int line = 0;
  static constexpr SourceLoc current(const char* f = __builtin_FILE(), int l = __builtin_LINE()) {
    return {f, l};
  }
};

// A single pointer, null for OK, so that returning success is cheap. Copies share the error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // `code` must not be kOk.
  [[gnu::cold]] Status(Code code, std::string message,
                       SourceLoc loc = SourceLoc::current()) noexcept;
  Status(const Status& other) noexcept : error_(other.error_) { share(); }
  Status(Status&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Status() {
    if (error_ != nullptr) release();
  }

  bool ok() const { return error_ == nullptr; }
  Code code() const;
  const std::string& message() const;
  SourceLoc loc() const;

  // Sets the node of the caller's graph that caused the error, unless one is set already.
  Status& at_node(int64_t index, std::string_view name);
  int64_t node_index() const;  // -1: none
  const std::string& node_name() const;

  // Sets the constraints that conflict with each other, for an error about such a conflict.
  Status& with_conflicts(std::vector<std::string> names);
  std::span<const std::string> conflicts() const;

 private:
  struct Error;
  static Error* spare(Code code) noexcept;
  void share() noexcept;
  [[gnu::cold]] void release() noexcept;
  Error& own();  // makes the error unshared, to modify it
  Error* error_ = nullptr;
};

// Cold: the code that leads to these calls, above all the construction of the message, is optimised
// for size and placed away from the code of the normal case.
[[gnu::cold]] Status invalid_argument(std::string m, SourceLoc l = SourceLoc::current());
[[gnu::cold]] Status unimplemented(std::string m, SourceLoc l = SourceLoc::current());
[[gnu::cold]] Status internal_error(std::string m, SourceLoc l = SourceLoc::current());
[[gnu::cold]] Status failed_precondition(std::string m, SourceLoc l = SourceLoc::current());
[[gnu::cold]] Status data_loss(std::string m, SourceLoc l = SourceLoc::current());

const Status& ok_status();
// std::bad_variant_access, as std::get throws it.
[[noreturn, gnu::cold]] void throw_no_value();

// A value or an error. Unlike a std::variant, access, move and destruction take only a few
// instructions, because they are inlined at every call.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor): `return value;` reads well
      : has_value_(true), value_(std::move(value)) {}
  Result(Status status)  // NOLINT(google-explicit-constructor)
      : has_value_(false), status_(std::move(status)) {}
  Result(const Result& other) requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, other.value_);
    else
      std::construct_at(&status_, other.status_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, std::move(other.value_));
    else
      std::construct_at(&status_, std::move(other.status_));
  }
  Result& operator=(Result other) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>);
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~Result() {
    if (has_value_)
      std::destroy_at(&value_);
    else
      std::destroy_at(&status_);
  }

  bool ok() const { return has_value_; }
  const Status& status() const& { return has_value_ ? ok_status() : status_; }
  Status status() && { return has_value_ ? Status() : std::move(status_); }
  T& operator*() {
    if (!has_value_) throw_no_value();
    return value_;
  }
  const T& operator*() const {
    if (!has_value_) throw_no_value();
    return value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

 private:
  bool has_value_;
  union {
    T value_;
    Status status_;
  };
};

#define SHW_CONCAT_(a, b) a##b
#define SHW_CONCAT(a, b) SHW_CONCAT_(a, b)
#define SHW_RETURN_IF_ERROR(expr)                                   \
  do {                                                              \
    if (::shw::Status shw_s_ = (expr); !shw_s_.ok()) return shw_s_; \
  } while (0)
#define SHW_ASSIGN_OR_RETURN_(tmp, lhs, expr)    \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = std::move(*tmp)
#define SHW_ASSIGN_OR_RETURN(lhs, expr) \
  SHW_ASSIGN_OR_RETURN_(SHW_CONCAT(shw_r_, __LINE__), lhs, expr)
// An internal invariant, in code that returns a Status or Result. Never for a caller's data.
#define SHW_CHECK(cond)                                                    \
  do {                                                                     \
    if (!(cond)) return ::shw::internal_error("invariant broken: " #cond); \
  } while (0)

}  // namespace shw
