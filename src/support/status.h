// Status and Result, returned by every function that can fail. Codes are gRPC's, with the numbers
// of the C API (capi/include/shardwise/shardwise.h). A status may name the node of the graph that
// caused it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message, SourceLoc loc = SourceLoc::current())
      : code_(code), message_(std::move(message)), loc_(loc) {}
  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  SourceLoc loc() const { return loc_; }

  // The node of the caller's graph at fault; the first one set is kept.
  Status& at_node(int64_t index, std::string_view name) {
    if (!ok() && node_index_ < 0) node_index_ = index, node_name_ = name;
    return *this;
  }
  int64_t node_index() const { return node_index_; }  // -1: none
  const std::string& node_name() const { return node_name_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
  SourceLoc loc_;
  int64_t node_index_ = -1;
  std::string node_name_;
};

inline Status invalid_argument(std::string m, SourceLoc l = SourceLoc::current()) {
  return {Code::kInvalidArgument, std::move(m), l};
}
inline Status unimplemented(std::string m, SourceLoc l = SourceLoc::current()) {
  return {Code::kUnimplemented, std::move(m), l};
}
inline Status internal_error(std::string m, SourceLoc l = SourceLoc::current()) {
  return {Code::kInternal, std::move(m), l};
}
inline Status failed_precondition(std::string m, SourceLoc l = SourceLoc::current()) {
  return {Code::kFailedPrecondition, std::move(m), l};
}
inline Status data_loss(std::string m, SourceLoc l = SourceLoc::current()) {
  return {Code::kDataLoss, std::move(m), l};
}

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
