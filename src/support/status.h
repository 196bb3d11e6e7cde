// Status and Result, returned by every function that can fail. Codes are gRPC's, with the numbers
// of the C API (capi/include/shardwise/base.h). A status may name the node of the graph that
// caused it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

// One pointer, null for OK, so that passing success on costs a test; copies share what went wrong.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // `code` is not kOk.
  Status(Code code, std::string message, SourceLoc loc = SourceLoc::current()) noexcept;
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

  // The node of the caller's graph that is at fault; the first one to be set stays.
  Status& at_node(int64_t index, std::string_view name);
  int64_t node_index() const;  // -1: none
  const std::string& node_name() const;

  // The constraints that cannot hold together, where that is the error.
  Status& with_conflicts(std::vector<std::string> names);
  std::span<const std::string> conflicts() const;

 private:
  struct Error;
  static Error* spare(Code code) noexcept;
  void share() noexcept;
  void release() noexcept;
  Error& own();  // not shared with copies
  Error* error_ = nullptr;
};

Status invalid_argument(std::string m, SourceLoc l = SourceLoc::current());
Status unimplemented(std::string m, SourceLoc l = SourceLoc::current());
Status internal_error(std::string m, SourceLoc l = SourceLoc::current());
Status failed_precondition(std::string m, SourceLoc l = SourceLoc::current());
Status data_loss(std::string m, SourceLoc l = SourceLoc::current());

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : v_(std::in_place_index<0>, std::move(value)) {
  }  // NOLINT(google-explicit-constructor): `return value;` reads well
  Result(Status status)
      : v_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return v_.index() == 0; }
  const Status& status() const {
    static const Status kOkStatus;
    return ok() ? kOkStatus : std::get<1>(v_);
  }
  T& operator*() { return std::get<0>(v_); }
  const T& operator*() const { return std::get<0>(v_); }
  T* operator->() { return &std::get<0>(v_); }
  const T* operator->() const { return &std::get<0>(v_); }

 private:
  std::variant<T, Status> v_;
};

#define SHW_CONCAT_(a, b) a##b
#define SHW_CONCAT(a, b) SHW_CONCAT_(a, b)
#define SHW_RETURN_IF_ERROR(expr)                                   \
  do {                                                              \
    if (::shw::Status shw_s_ = (expr); !shw_s_.ok()) return shw_s_; \
  } while (0)
#define SHW_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                          \
  if (!tmp.ok()) return tmp.status();         \
  lhs = std::move(*tmp)
#define SHW_ASSIGN_OR_RETURN(lhs, expr) \
  SHW_ASSIGN_OR_RETURN_(SHW_CONCAT(shw_r_, __LINE__), lhs, expr)
// An internal invariant, in code that returns a Status or Result. Never for a caller's data.
#define SHW_CHECK(cond)                                                    \
  do {                                                                     \
    if (!(cond)) return ::shw::internal_error("invariant broken: " #cond); \
  } while (0)

}  // namespace shw
