#include "runtime/world/message_world.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/world/control.h"
#include "runtime/world/message_job.h"
#include "runtime/world/patience.h"

namespace shw::runtime {
namespace {

constexpr int32_t kGatherTag = 1;

class MessageWorld final : public ProcessWorld,
                           public MessageWorldLinks,
                           public std::enable_shared_from_this<MessageWorld> {
 public:
  MessageWorld(std::unique_ptr<Transport> transport, const WorldOptions& options)
      : options_(options), transport_(std::move(transport)), rank_(transport_->rank()) {
    control_ = std::make_unique<Control>(
        *transport_, [this](int64_t from, const ControlMessage& m) { handle(from, m); });
    control_->start();
  }
  ~MessageWorld() override;

  int64_t num_ranks() const override { return transport_->size(); }
  int64_t rank() const override { return rank_; }
  int64_t rank_on_host() const override { return transport_->rank_on_host(); }
  std::span<const int64_t> local_ranks() const override { return {&rank_, 1}; }
  Result<std::unique_ptr<ChannelProvider>> begin_join(int64_t rank, const Mesh& mesh,
                                                      const ProgramIdentity& program) override;
  void end_join(int64_t, bool) override {}  // the provider reports when the rank leaves the job
  void abort(const Status& cause) override;
  Status status() const override {
    std::lock_guard lock(mutex_);
    return cause_;
  }
  Result<std::vector<std::vector<std::byte>>> gather_at_root(
      std::span<const std::byte> mine) override;

  Transport& transport() override { return *transport_; }
  Timeout timeout() const override { return options_.timeout; }
  uint32_t ask(uint64_t job) override;
  std::map<int64_t, std::string> answers(uint32_t question, Timeout wait) override;
  void tell_abort(uint64_t job, uint32_t epoch, const std::string& cause) override {
    control_->send_to_others({ControlMessage::kAbortJob, epoch, job, cause});
  }
  void tell_left(uint64_t job) override {
    {
      std::lock_guard lock(mutex_);
      jobs_.erase(job);
    }
    control_->send_to_others({ControlMessage::kLeft, 0, job, {}});
  }

 private:
  struct Job {
    std::shared_ptr<MessageJob> job;
    std::map<int64_t, ProgramIdentity> hellos;  // by rank
  };

  void handle(int64_t from, const ControlMessage& message);
  void fail(const Status& cause);
  // Waits until `done` holds (evaluated under mutex_), for at most `limit` (zero or less: no
  // limit), or until the world is aborted. Returns whether it holds.
  template <class Predicate>
  bool wait(std::unique_lock<std::mutex>& lock, Timeout limit, Predicate done) {
    const Control::Hurry hurry(*control_);
    const auto enough = [&] { return done() || !cause_.ok(); };
    if (limit <= Timeout::zero())
      changed_.wait(lock, enough);
    else
      changed_.wait_for(lock, limit, enough);
    return done();
  }
  Status compare(const std::map<int64_t, ProgramIdentity>& hellos) const;
  std::string missing_text(const std::set<int64_t>& here) const;
  std::string silent_text(const std::map<int64_t, std::string>& answers) const override;
  Status transfer(Transport::Request request, int64_t peer);

  const WorldOptions options_;
  const std::unique_ptr<Transport> transport_;
  const int64_t rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status cause_;
  uint64_t next_job_ = 0;
  std::map<uint64_t, Job> jobs_;  // jobs that this rank is in, joins or will join
  uint32_t last_question_ = 0;
  std::map<uint32_t, std::map<int64_t, std::string>> answers_;  // by question and rank
  std::set<int64_t> byes_;
  std::unique_ptr<Control> control_;
};

MessageWorld::~MessageWorld() {
  bool orderly = num_ranks() == 1;
  try {
    std::unique_lock lock(mutex_);
    if (cause_.ok() && !orderly) {
      control_->send_to_others({ControlMessage::kBye, 0, 0, {}});
      const auto others = static_cast<size_t>(num_ranks() - 1);
      orderly = wait(lock, options_.timeout, [&] { return byes_.size() == others; });
    }
  } catch (const std::bad_alloc&) {
    orderly = false;
  }
  control_.reset();
  transport_->close(orderly);
}

void MessageWorld::handle(int64_t from, const ControlMessage& m) {
  std::unique_lock lock(mutex_);
  const auto known = jobs_.find(m.job);
  const auto job = known == jobs_.end() ? nullptr : known->second.job;
  switch (m.kind) {
    case ControlMessage::kHello: {
      ProgramIdentity program;
      std::memcpy(&program, m.body.data(), std::min(m.body.size(), sizeof program));
      // The message is not needed if this rank has already left the job.
      if (m.job >= next_job_ || job != nullptr) jobs_[m.job].hellos[from] = program;
      break;
    }
    case ControlMessage::kLeft:
      if (job != nullptr) job->rank_left(from);
      break;
    case ControlMessage::kAbortJob:
      if (job != nullptr) (void)job->stop(m.epoch, stopped_with_others(m.body));
      break;
    case ControlMessage::kAbortWorld:
      lock.unlock();
      fail(stopped_with_others(m.body));
      return;
    case ControlMessage::kAsk:
      control_->send(from,
                     {ControlMessage::kTell, m.epoch, m.job,
                      job == nullptr ? std::string() : job->log().to_string(kShownCollectives)});
      return;
    case ControlMessage::kTell:
      if (const auto asked = answers_.find(m.epoch); asked != answers_.end())
        asked->second[from] = m.body;
      break;
    case ControlMessage::kBye:
      byes_.insert(from);
      break;
    default:
      return;
  }
  lock.unlock();
  changed_.notify_all();
}

void MessageWorld::fail(const Status& cause) {
  {
    std::lock_guard lock(mutex_);
    if (!cause_.ok()) return;
    cause_ = cause;
    for (const auto& [number, job] : jobs_)
      if (job.job != nullptr) job.job->stop_for_good(cause);
  }
  changed_.notify_all();
}

void MessageWorld::abort(const Status& cause) {
  const std::string text = "rank " + std::to_string(rank_) + ": " + cause.message();
  control_->send_to_others({ControlMessage::kAbortWorld, 0, 0, text});
  fail(cause);
}

Status MessageWorld::compare(const std::map<int64_t, ProgramIdentity>& hellos) const {
  const ProgramIdentity& mine = hellos.at(rank_);
  for (const auto& [rank, other] : hellos)
    SHW_RETURN_IF_ERROR(check_same_program(rank_, mine, rank, other));
  return {};
}

std::string MessageWorld::missing_text(const std::set<int64_t>& here) const {
  std::string text;
  for (int64_t r = 0; r < num_ranks(); ++r)
    if (!here.contains(r)) text += (text.empty() ? "rank " : ", rank ") + std::to_string(r);
  return text;
}

Result<std::unique_ptr<ChannelProvider>> MessageWorld::begin_join(int64_t rank, const Mesh& mesh,
                                                                  const ProgramIdentity& program) {
  if (rank != rank_ && rank >= 0 && rank < num_ranks())
    return Status(Code::kOutOfRange, "rank " + std::to_string(rank) +
                                         " is another process's: this one has rank " +
                                         std::to_string(rank_));
  std::unique_lock lock(mutex_);
  if (!cause_.ok()) return cause_;
  const uint64_t number = next_job_++;
  const auto job = std::make_shared<MessageJob>(number, rank_, num_ranks());
  jobs_[number].job = job;
  jobs_[number].hellos[rank_] = program;
  // Sent even if this rank cannot take part: the others then see that programs differ, and do not
  // wait.
  control_->send_to_others({ControlMessage::kHello, 0, number,
                            std::string(reinterpret_cast<const char*>(&program), sizeof program)});
  Status status = check_rank(rank, num_ranks(), mesh);
  if (status.ok()) {
    const auto& hellos = jobs_[number].hellos;
    const bool all = wait(lock, options_.timeout,
                          [&] { return hellos.size() == static_cast<size_t>(num_ranks()); });
    if (!cause_.ok()) {
      status = cause_;
    } else if (!all) {
      std::set<int64_t> here;
      for (const auto& [other, identity] : hellos) here.insert(other);
      status =
          Status(Code::kDeadlineExceeded,
                 "rank " + std::to_string(rank_) + " waited " + seconds_text(options_.timeout) +
                     " for all ranks to make an executor; there is none of " + missing_text(here));
    } else {
      status = compare(hellos);
    }
  }
  if (!status.ok()) {
    jobs_.erase(number);
    lock.unlock();
    control_->send_to_others({ControlMessage::kLeft, 0, number, {}});
    return status;
  }
  return message_provider(shared_from_this(), job, mesh);
}

uint32_t MessageWorld::ask(uint64_t job) {
  std::unique_lock lock(mutex_);
  const uint32_t question = ++last_question_;
  answers_[question];
  lock.unlock();
  control_->send_to_others({ControlMessage::kAsk, question, job, {}});
  return question;
}

std::map<int64_t, std::string> MessageWorld::answers(uint32_t question, Timeout limit) {
  std::unique_lock lock(mutex_);
  const auto all = [&] {
    return answers_[question].size() + 1 >= static_cast<size_t>(num_ranks());
  };
  if (limit > Timeout::zero()) (void)wait(lock, limit, all);
  auto found = std::move(answers_[question]);
  answers_.erase(question);
  return found;
}

std::string MessageWorld::silent_text(const std::map<int64_t, std::string>& answers) const {
  std::string text;
  for (int64_t r = 0; r < num_ranks(); ++r)
    if (r != rank_ && !answers.contains(r)) text += "; rank " + std::to_string(r) + kDoesNotAnswer;
  return text;
}

// Waits for one message of gather_at_root().
Status MessageWorld::transfer(Transport::Request request, int64_t peer) {
  Patience patience(*this, 0);
  int64_t bytes = 0;
  while (request != 0) {
    SHW_RETURN_IF_ERROR(transport_->test(&request, &bytes));
    if (request == 0) break;
    Status stop = status();
    if (stop.ok() && patience.is_over())
      stop = Status(Code::kDeadlineExceeded,
                    "rank " + std::to_string(rank_) + " waited " + seconds_text(options_.timeout) +
                        " for rank " + std::to_string(peer) + " to gather bytes at rank 0" +
                        silent_text(patience.answers()));
    if (!stop.ok()) return stop;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return {};
}

Result<std::vector<std::vector<std::byte>>> MessageWorld::gather_at_root(
    std::span<const std::byte> mine) {
  constexpr int64_t kChunk = 1 << 20;
  // Separate memory, which is leaked after a time-out, because the transport may still use it.
  struct Staging {
    uint64_t size = 0;
    std::vector<std::byte> chunk = std::vector<std::byte>(kChunk);
  };
  auto staging = std::make_unique<Staging>();
  const auto exchange = [&](int64_t peer, void* data, int64_t bytes) -> Status {
    Transport::Request request = 0;
    Status s = rank_ == 0 ? transport_->receive(peer, kGatherTag, data, bytes, &request)
                          : transport_->send(peer, kGatherTag, data, bytes, &request);
    if (s.ok()) s = transfer(request, peer);
    if (!s.ok()) (void)staging.release();
    return s;
  };
  std::vector<std::vector<std::byte>> all;
  if (rank_ == 0) {
    all.resize(static_cast<size_t>(num_ranks()));
    all[0].assign(mine.begin(), mine.end());
  }
  for (int64_t peer = rank_ == 0 ? 1 : 0; peer < (rank_ == 0 ? num_ranks() : 1); ++peer) {
    staging->size = mine.size();
    SHW_RETURN_IF_ERROR(exchange(peer, &staging->size, sizeof staging->size));
    const auto size = static_cast<int64_t>(staging->size);
    if (rank_ == 0) all[static_cast<size_t>(peer)].resize(staging->size);
    for (int64_t done = 0; done < size; done += kChunk) {
      const int64_t n = std::min(kChunk, size - done);
      if (rank_ != 0)
        std::memcpy(staging->chunk.data(), mine.data() + done, static_cast<size_t>(n));
      SHW_RETURN_IF_ERROR(exchange(peer, staging->chunk.data(), n));
      if (rank_ == 0)
        std::memcpy(all[static_cast<size_t>(peer)].data() + done, staging->chunk.data(),
                    static_cast<size_t>(n));
    }
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<ProcessWorld>> create_message_world(std::unique_ptr<Transport> transport,
                                                           const WorldOptions& options) {
  return std::shared_ptr<ProcessWorld>(
      std::make_shared<MessageWorld>(std::move(transport), options));
}

}  // namespace shw::runtime
