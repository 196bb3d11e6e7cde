// This process's part in one job of a world of processes: its channels, and what ends them.
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

inline constexpr size_t kShownCollectives = 4;  // of a rank, in a message
// Behind "rank 3", of one that does not say what it does.
inline constexpr const char* kDoesNotAnswer =
    " does not answer: it is dead, stopped or unreachable";

// What a job needs of its world.
struct MessageWorldLinks {
  virtual ~MessageWorldLinks() = default;
  virtual Transport& transport() = 0;
  virtual Timeout timeout() const = 0;
  // Asks all other ranks what they dispatched last in `job`; returns the question's number.
  virtual uint32_t ask(uint64_t job) = 0;
  // What came, by rank, until everybody has answered or `wait` is over; empty of a rank that is not
  // in the job any more. Forgets the question.
  virtual std::map<int64_t, std::string> answers(uint32_t question, Timeout wait) = 0;
  // "; rank 3 does not answer: …" of every rank that is not among the answers.
  virtual std::string silent_text(const std::map<int64_t, std::string>& answers) const = 0;
  virtual void tell_abort(uint64_t job, uint32_t epoch, const std::string& cause) = 0;
  virtual void tell_left(uint64_t job) = 0;
};

// Between resets a job is in an epoch. Ranks that reset equally often are in the same one, and an
// abort is of one epoch: a late rank's cannot end the next run.
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
  // False: it had been stopped before, or that epoch is over.
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
  std::map<uint32_t, Status> to_come_;  // aborts of epochs that this rank has not reached
  std::atomic<bool> stopped_{false};
  std::vector<std::atomic<bool>> left_;  // by rank
};

std::unique_ptr<ChannelProvider> message_provider(std::shared_ptr<MessageWorldLinks> world,
                                                  std::shared_ptr<MessageJob> job, Mesh mesh);

// How ABORTED reads on the ranks that did not begin it.
Status stopped_with_others(const std::string& cause);

}  // namespace shw::runtime
