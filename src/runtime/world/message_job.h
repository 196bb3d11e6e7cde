// This process's part in one job of a world of processes: its channels, and the state that ends
// them.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/channel.h"
#include "runtime/collective/log.h"
#include "runtime/world/transport.h"

namespace shw::runtime {

inline constexpr size_t kShownCollectives = 4;  // shown per rank in an error message
// Appended to, for example, "rank 3" if that rank does not answer.
inline constexpr const char* kDoesNotAnswer =
    " does not answer: it is dead, stopped or unreachable";

// What a job needs of its world.
struct MessageWorldLinks {
  virtual ~MessageWorldLinks() = default;
  virtual Transport& transport() = 0;
  virtual Timeout timeout() const = 0;
  // Asks all other ranks what they dispatched last in `job`; returns the question's number.
  virtual uint32_t ask(uint64_t job) = 0;
  // Waits until all ranks have answered or `wait` is over, and returns the answers by rank. The
  // answer of a rank that has left the job is empty. The question is then forgotten.
  virtual std::map<int64_t, std::string> answers(uint32_t question, Timeout wait) = 0;
  // "; rank 3 does not answer: …" for every rank that is not in `answers`.
  virtual std::string silent_text(const std::map<int64_t, std::string>& answers) const = 0;
  virtual void tell_abort(uint64_t job, uint32_t epoch, const std::string& cause) = 0;
  virtual void tell_left(uint64_t job) = 0;
};

// Between two resets a job is in one epoch. Ranks that have reset equally often are in the same
// epoch. An abort applies to one epoch, so an abort from a late rank cannot end the next run.
class MessageJob {
 public:
  MessageJob(uint64_t number, int64_t rank, int64_t num_ranks)
      : number_(number), rank_(rank), left_(static_cast<size_t>(num_ranks)) {}

  uint64_t number() const { return number_; }
  int64_t rank() const { return rank_; }
  CollectiveLog& log() { return log_; }

  uint32_t epoch() const;
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  Status cause() const;  // OK: not stopped
  // False: the job is already stopped, or the epoch is over.
  bool stop(uint32_t epoch, const Status& cause);
  void stop_for_good(const Status& cause);
  void begin_next_epoch();

  void rank_left(int64_t rank) { left_[static_cast<size_t>(rank)].store(true); }
  bool has_left(int64_t rank) const { return left_[static_cast<size_t>(rank)].load(); }

 private:
  const uint64_t number_;
  const int64_t rank_;
  CollectiveLog log_;
  mutable std::mutex mutex_;
  uint32_t epoch_ = 0;
  bool for_good_ = false;
  Status cause_;
  std::map<uint32_t, Status> to_come_;  // aborts of epochs that this rank has not reached yet
  std::atomic<bool> stopped_{false};
  std::vector<std::atomic<bool>> left_;  // by rank
};

std::unique_ptr<ChannelProvider> message_provider(std::shared_ptr<MessageWorldLinks> world,
                                                  std::shared_ptr<MessageJob> job, Mesh mesh);

// The ABORTED error of ranks that did not cause the abort.
Status stopped_with_others(const std::string& cause);

}  // namespace shw::runtime
