#include "support/status.h"

#include <atomic>
#include <new>
#include <variant>

namespace shw {

struct Status::Error {
  Code code;
  std::string message;
  SourceLoc loc;
  int64_t node_index = -1;
  std::string node_name{};
  std::vector<std::string> conflicts{};
  std::atomic<int> owners{1};
};

namespace {

const std::string& none() {
  static const std::string kNone;
  return kNone;
}

}  // namespace

// Where there is no memory for an error, one that is made without any stands for it: an error must
// be told where nothing may throw, such as on a stream's thread.
Status::Error* Status::spare(Code code) noexcept {
  static Error spares[] = {
#define SHW_SPARE(code)             \
  {                                 \
    Code::code, "out of memory", {} \
  }
      SHW_SPARE(kOk),
      SHW_SPARE(kCancelled),
      SHW_SPARE(kUnknown),
      SHW_SPARE(kInvalidArgument),
      SHW_SPARE(kDeadlineExceeded),
      SHW_SPARE(kNotFound),
      SHW_SPARE(kAlreadyExists),
      SHW_SPARE(kPermissionDenied),
      SHW_SPARE(kResourceExhausted),
      SHW_SPARE(kFailedPrecondition),
      SHW_SPARE(kAborted),
      SHW_SPARE(kOutOfRange),
      SHW_SPARE(kUnimplemented),
      SHW_SPARE(kInternal),
      SHW_SPARE(kUnavailable),
      SHW_SPARE(kDataLoss),
#undef SHW_SPARE
  };
  Error* error = &spares[static_cast<size_t>(code)];
  error->owners.fetch_add(1, std::memory_order_relaxed);  // never the last
  return error;
}

Status::Status(Code code, std::string message, SourceLoc loc) noexcept
    : error_(new (std::nothrow) Error{code, std::move(message), loc}) {
  if (error_ == nullptr) error_ = spare(code);
}

const Status& ok_status() {
  static const Status kOk;
  return kOk;
}

void throw_no_value() { throw std::bad_variant_access(); }

Code Status::code() const { return ok() ? Code::kOk : error_->code; }
const std::string& Status::message() const { return ok() ? none() : error_->message; }
SourceLoc Status::loc() const { return ok() ? SourceLoc() : error_->loc; }
int64_t Status::node_index() const { return ok() ? -1 : error_->node_index; }
const std::string& Status::node_name() const { return ok() ? none() : error_->node_name; }
std::span<const std::string> Status::conflicts() const {
  return ok() ? std::span<const std::string>() : error_->conflicts;
}

Status& Status::at_node(int64_t index, std::string_view name) {
  if (ok() || error_->node_index >= 0) return *this;
  Error& error = own();
  error.node_name = name;
  error.node_index = index;
  return *this;
}

Status& Status::with_conflicts(std::vector<std::string> names) {
  if (!ok()) own().conflicts = std::move(names);
  return *this;
}

void Status::share() noexcept {
  if (error_ != nullptr) error_->owners.fetch_add(1, std::memory_order_relaxed);
}

void Status::release() noexcept {
  if (error_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete error_;
}

Status::Error& Status::own() {
  if (error_->owners.load(std::memory_order_acquire) > 1) {
    const Error& shared = *error_;
    auto* copy = new Error{shared.code,       shared.message,   shared.loc,
                           shared.node_index, shared.node_name, shared.conflicts};
    release();
    error_ = copy;
  }
  return *error_;
}

Status invalid_argument(std::string m, SourceLoc l) {
  return {Code::kInvalidArgument, std::move(m), l};
}
Status unimplemented(std::string m, SourceLoc l) { return {Code::kUnimplemented, std::move(m), l}; }
Status internal_error(std::string m, SourceLoc l) { return {Code::kInternal, std::move(m), l}; }
Status failed_precondition(std::string m, SourceLoc l) {
  return {Code::kFailedPrecondition, std::move(m), l};
}
Status data_loss(std::string m, SourceLoc l) { return {Code::kDataLoss, std::move(m), l}; }

}  // namespace shw
