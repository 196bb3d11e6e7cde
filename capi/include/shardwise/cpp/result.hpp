// How calls fail: Status owns an error, Result has a value or an error, Error is thrown. Which of
// the last two calls give is chosen for each translation unit: SHARDWISE_RESULTS.
#ifndef SHARDWISE_CPP_RESULT_HPP_
#define SHARDWISE_CPP_RESULT_HPP_

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "shardwise/shardwise.h"

#if !defined(SHARDWISE_RESULTS) && !defined(__cpp_exceptions)
#define SHARDWISE_RESULTS
#endif
#ifdef SHARDWISE_RESULTS
#define SHARDWISE_MODE returning
#else
#define SHARDWISE_MODE throwing
#endif

namespace shardwise {
// The two modes have names of their own, so that translation units of both can be linked together.
inline namespace SHARDWISE_MODE {

// What went wrong; empty: nothing. Strings are lent by the status.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(shw_status* status) noexcept : status_(status) {}

  bool ok() const noexcept { return status_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  shw_code code() const noexcept { return shw_status_code(status_.get()); }
  const char* code_name() const noexcept { return shw_status_code_name(code()); }
  // The cause, then the node of the graph if there is one.
  const char* message() const noexcept { return shw_status_message(status_.get()); }
  std::size_t node_index() const noexcept { return shw_status_node_index(status_.get()); }
  const char* node_name() const noexcept { return shw_status_node_name(status_.get()); }
  // Where no placement satisfies all options: the smallest set of them that cannot hold together.
  std::size_t num_conflicts() const noexcept { return shw_status_num_conflicts(status_.get()); }
  const char* conflict(std::size_t index) const noexcept {
    return shw_status_conflict(status_.get(), index);
  }
  // Of the library, for bug reports.
  const char* source_file() const noexcept { return shw_status_source_file(status_.get()); }
  std::int32_t source_line() const noexcept { return shw_status_source_line(status_.get()); }

  shw_status* get() const noexcept { return status_.get(); }
  shw_status* release() noexcept { return status_.release(); }

 private:
  struct Destroy {
    void operator()(shw_status* status) const noexcept { shw_status_destroy(status); }
  };
  std::unique_ptr<shw_status, Destroy> status_;
};

#ifndef SHARDWISE_RESULTS
// What calls throw.
class Error : public std::exception {
 public:
  explicit Error(Status status) : status_(std::make_shared<Status>(std::move(status))) {}
  const char* what() const noexcept override { return status_->message(); }
  shw_code code() const noexcept { return status_->code(); }
  const Status& status() const noexcept { return *status_; }

 private:
  std::shared_ptr<Status> status_;  // exceptions are copied
};
#endif

// A value, or why there is none. Reading the value where there is none is undefined, as with
// std::optional; ask ok() first.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status) noexcept
      : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return status_.ok(); }
  explicit operator bool() const noexcept { return ok(); }
  const Status& status() const& noexcept { return status_; }
  Status status() && noexcept { return std::move(status_); }
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T operator*() && { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

#ifdef SHARDWISE_RESULTS
// What a call gives.
template <class T>
using Returned = Result<T>;
using Done = Status;
#else
template <class T>
using Returned = T;
using Done = void;
#endif

namespace detail {

// Turns what C returned into what the caller chose. Takes ownership of the status.
inline Done give(shw_status* status) {
#ifdef SHARDWISE_RESULTS
  return Status(status);
#else
  if (status != nullptr) throw Error(Status(status));
#endif
}

template <class T>
Returned<T> give(shw_status* status, T value) {
#ifdef SHARDWISE_RESULTS
  if (status != nullptr) return Status(status);
#else
  if (status != nullptr) throw Error(Status(status));
#endif
  return value;
}

}  // namespace detail
}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_RESULT_HPP_
