// The host's side of an executor's runs: a thread that sees runs end, gives their memory back, and
// stops the channels when something has gone wrong.
//
// None of this may happen in a stream's callback (CUDA forbids calls to the device there) or under
// the fault's lock (to abort a channel may take long).
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

  // All commands of the run are on their streams. Runs are submitted in the order of their numbers.
  void submitted(uint64_t run);
  // By the run's last command. Not called for a run that failed.
  void reached_end(uint64_t run) noexcept;
  // Blocks until every submitted run has ended and, after a fault, the channels are aborted.
  void wait_until_idle();
  // After the fault has been cleared.
  void forget_fault();
  // Returns once all runs have ended: raise the fault first to end soon. Streams may still be in
  // reached_end(): they must drain before the monitor goes.
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
  // Errors come to light only when somebody asks.
  bool must_poll() const { return !watch_.prompt_errors || watch_.time_limit.count() > 0; }
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  bool abort_channels() noexcept;  // false: there was no memory for it
  void finish(uint64_t run);
  Status result_of(uint64_t run, const RunSlot& slot);
  // Raises what nobody has raised: errors of streams and channels, a run that takes too long.
  void look_for_errors();
  void look_at_the_clock();
  void on_fault() noexcept override;

  const Watched watch_;
  const std::chrono::nanoseconds ask_within_;  // ChannelProvider
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  uint64_t submitted_ = 0, finished_ = 0;
  uint64_t reached_ = 0;       // the last run that came to its end
  Clock::time_point began_{};  // when the oldest unfinished run could begin
  bool aborted_ = false;       // the channels, because of the present fault
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace shw::runtime
