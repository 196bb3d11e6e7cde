// shw_pending.
#include "plan_names.h"
#include "runner.h"
#include "whole_tensor.h"

using namespace shw;
using namespace shw::capi;

shw_pending::~shw_pending() {
  if (events.empty() || !has_ended(*this)) return;  // if a run is in flight, it holds the memory
  try {
    const std::lock_guard lock(shared->mutex);
    shared->spare[entry].push_back(std::move(buffers));
  } catch (const std::exception&) {  // out of memory: the buffers are freed
  }
}

std::vector<shw_buffer*> shw_pending::pieces(size_t output) const {
  std::vector<shw_buffer*> found;
  for (size_t rank = 0; rank < events.size(); ++rank)
    found.push_back(buffers.outputs[rank * of_entry().outputs.size() + output].get());
  return found;
}

namespace shw::capi {
namespace {

// Whether an error is closer to the cause than the known one: the error of a rank that failed by
// itself is closer than that of ranks which were aborted because of it.
bool tells_more(Code known, Code code) {
  if (code == Code::kOk) return false;
  if (known == Code::kOk) return true;
  return (known == Code::kAborted || known == Code::kCancelled) && code != Code::kAborted;
}

// A rank may learn of the caller's abort from another rank, and report it as an abort by that rank.
Code cause_of(const RunnerShared& shared, uint64_t epoch, Code code) {
  return code == Code::kAborted && shared.stopped == epoch + 1 ? Code::kCancelled : code;
}

// Notified of the end of a run, once it has ended on all ranks.
struct EndOfRun {
  EndOfRun(const shw_pending& pending, shw_done_fn done_fn, void* user_data)
      : shared(pending.shared),
        epoch(pending.epoch),
        left(pending.events.size()),
        done(done_fn),
        user(user_data) {
    for (const auto& event : pending.events) ranks.push_back(event->completion);
  }
  void rank_ended() {
    if (--left != 0) return;
    Code cause = Code::kOk;
    for (const runtime::Completion& rank : ranks)
      if (const Code code = rank.code(); tells_more(cause, code)) cause = code;
    done(user, static_cast<shw_code>(cause_of(*shared, epoch, cause)));
  }

  std::shared_ptr<RunnerShared> shared;
  uint64_t epoch;
  std::vector<runtime::Completion> ranks;
  std::atomic<size_t> left;
  shw_done_fn done;
  void* user;
};

}  // namespace

bool has_ended(const shw_pending& pending) {
  return std::ranges::all_of(pending.events,
                             [](const auto& event) { return event->completion.ready(); });
}

Status wait_for(const shw_pending& pending, int64_t timeout_ns) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Status cause;
  for (const auto& event : pending.events) {
    const auto left = std::chrono::nanoseconds(timeout_ns) - (Clock::now() - begin);
    if (timeout_ns >= 0 && !event->completion.wait_for(std::max(left, Clock::duration::zero())))
      return Status(Code::kDeadlineExceeded,
                    "the run has not ended after " +
                        std::to_string(static_cast<double>(timeout_ns) / 1e9) + " s");
    Status status = event->completion.wait();
    if (tells_more(cause.code(), status.code())) cause = std::move(status);
  }
  if (const Code code = cause_of(*pending.shared, pending.epoch, cause.code());
      code != cause.code())
    cause = Status(code, "the runner was aborted");
  // A failure of an earlier epoch has been handled, and says nothing about the executors' current
  // state.
  if (!cause.ok() && pending.epoch == pending.shared->epoch) pending.shared->failed = true;
  return cause;
}

}  // namespace shw::capi

shw_status* shw_pending_wait(const shw_pending* pending, int64_t timeout_ns) {
  return guard([&]() -> Status {
    SHW_WANT(pending);
    return wait_for(*pending, timeout_ns);
  });
}

int32_t shw_pending_query(const shw_pending* pending) {
  return pending == nullptr || has_ended(*pending) ? 1 : 0;
}

shw_status* shw_pending_notify(const shw_pending* pending, shw_done_fn done, void* user) {
  return guard([&]() -> Status {
    SHW_WANT(pending);
    SHW_WANT(done);
    // If memory runs out in between, a rank is never counted, and `done` is not called.
    const auto end = std::make_shared<EndOfRun>(*pending, done, user);
    for (const runtime::Completion& rank : end->ranks)
      rank.timeline()->tell_end(rank.run(), [end](Code) { end->rank_ended(); });
    return {};
  });
}

shw_status* shw_pending_gather(const shw_pending* pending, const char* output,
                               shw_buffer** out_buffer) {
  return make_handle(out_buffer, "out_buffer", [&]() -> Result<std::unique_ptr<shw_buffer>> {
    SHW_WANT(pending);
    SHW_WANT(output);
    const ProgramEntry& entry = pending->of_entry();
    const PlanRef& plan = pending->shared->plan;
    SHW_ASSIGN_OR_RETURN(const size_t place,
                         find_among(plan->plan.program, entry.outputs, "output", output));
    SHW_RETURN_IF_ERROR(wait_for(*pending, -1));
    return gather(plan, entry.outputs[place].v, pending->pieces(place));
  });
}

void shw_pending_destroy(shw_pending* pending) { delete pending; }
