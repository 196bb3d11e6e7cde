// shw_event.
#include "event.h"

#include "boundary.h"

using namespace shw;
using namespace shw::capi;

shw_status* shw_event_wait(const shw_event* event, int64_t timeout_ns) {
  return guard([&]() -> Status {
    SHW_WANT(event);
    if (timeout_ns >= 0 && !event->completion.wait_for(std::chrono::nanoseconds(timeout_ns)))
      return Status(Code::kDeadlineExceeded,
                    "the run has not ended after " +
                        std::to_string(static_cast<double>(timeout_ns) / 1e9) + " s");
    return event->completion.wait();
  });
}

int32_t shw_event_query(const shw_event* event) {
  return event == nullptr || event->completion.ready() ? 1 : 0;
}

shw_status* shw_event_notify(const shw_event* event, shw_done_fn done, void* user) {
  return guard([&]() -> Status {
    SHW_WANT(event);
    SHW_WANT(done);
    event->completion.timeline()->tell_end(event->completion.run(), [done, user](Code code) {
      done(user, static_cast<shw_code>(code));
    });
    return {};
  });
}

void shw_event_destroy(shw_event* event) { delete event; }
