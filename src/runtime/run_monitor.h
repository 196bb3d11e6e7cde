// The host thread of an executor. It detects the end of runs, releases their buffers, and aborts
// the channels after an error.
//
// This must not happen in a stream's callback, because CUDA forbids calls to the device there. Nor
// may it happen under the fault's lock, because aborting a channel may take long.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/channel.h"
#include "runtime/run_slot.h"

namespace shw::runtime {

class RunMonitor final : private Fault::Listener {
 public:
  struct Watched {  // all of it outlives the monitor
    Fault& fault;
    ChannelProvider& provider;
    Timeline& timeline;
    std::vector<RunSlot>& slots;
    std::vector<const Stream*> streams;
    bool prompt_errors;                      // Capabilities
    std::chrono::nanoseconds time_limit{0};  // of a run; 0: none
  };
  static Result<std::unique_ptr<RunMonitor>> create(Watched watched);
  ~RunMonitor();
  RunMonitor(const RunMonitor&) = delete;
  RunMonitor& operator=(const RunMonitor&) = delete;

  // Called when all commands of the run are on their streams, in the order of run numbers.
  void submitted(uint64_t run);
  // Called by the run's last command; not called for a run that failed.
  void reached_end(uint64_t run) noexcept;
  // Blocks until every submitted run has ended and, after a fault, the channels are aborted.
  void wait_until_idle();
  // Call after the fault has been cleared.
  void forget_fault();
  // Returns once all runs have ended; raise the fault first to end them early. Streams may still be
  // inside reached_end(): drain them before the monitor is destroyed.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  explicit RunMonitor(Watched watched);
  void serve();                                                           // the thread
  bool has_run() const { return submitted_ > finished_; }                 // under mutex_
  bool must_abort() const { return watch_.fault.raised() && !aborted_; }  // under mutex_
  bool must_finish() const {                                              // under mutex_
    return has_run() && (reached_ > finished_ || watch_.fault.raised());
  }
  // Errors that are reported only on request, and the time limit, require polling.
  bool must_poll() const { return !watch_.prompt_errors || watch_.time_limit.count() > 0; }
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  bool abort_channels() noexcept;  // false: out of memory
  void finish(uint64_t run);
  Status result_of(uint64_t run, const RunSlot& slot);
  // Raise errors that streams and channels have not raised themselves, and time-outs of runs.
  void look_for_errors();
  void look_at_the_clock();
  void on_fault() noexcept override;

  const Watched watch_;
  const std::chrono::nanoseconds ask_within_;  // ChannelProvider
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  uint64_t submitted_ = 0, finished_ = 0;
  uint64_t reached_ = 0;       // the last run that reached its end
  Clock::time_point began_{};  // earliest start of the oldest unfinished run
  bool aborted_ = false;       // the channels were aborted for the current fault
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace shw::runtime
