#include "support/status.h"

#include <atomic>

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

Status::Status(Code code, std::string message, SourceLoc loc)
    : error_(new Error{code, std::move(message), loc}) {}

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
