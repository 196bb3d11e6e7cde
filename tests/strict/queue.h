// What is behind a strict stream: a thread that does commands in order; captures; events.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "strict/context.h"

namespace shw::strict {

using Pointers = std::vector<void*>;

struct Command {
  std::function<void(const Pointers&)> run;
  bool even_if_lost = false;
  Pointers pointers = {};
  // Of a command that is captured: what each launch of the graph runs in place of `run`.
  std::function<std::function<void(const Pointers&)>()> at_launch = {};
};

class Queue;

// How much of each stream is known to be over, in numbers of captured commands.
using Seen = std::map<const Queue*, size_t>;

// What streams were given between begin and end. Commands stand in the order in which they were
// enqueued, which is an order in which they may be done.
struct Capture {
  Queue* origin = nullptr;
  std::vector<Command> commands;
  std::map<const Queue*, Seen> streams;
  std::string broken;  // why it is not valid; empty: it is
};

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, completed = 0;
  std::chrono::steady_clock::time_point reached_at;
  std::shared_ptr<Capture> capture;  // of the latest record, if it was captured
  Seen seen;

  bool done(uint64_t record) {
    std::lock_guard lock(mutex);
    return completed >= record;
  }
};

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  explicit Queue(std::shared_ptr<Context> context);
  ~Queue();  // once everything is done
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void push(Command command);
  // A kernel: its pointers are read now.
  void launch(std::function<void(const Pointers&)> run, void* const* source, size_t count);
  void record(const std::shared_ptr<EventState>& event);
  void wait(const std::shared_ptr<EventState>& event);
  void drain();
  bool idle();  // nothing is queued or under way
  bool is_capturing() const { return capture_ != nullptr; }
  // Whether a capture holds what it is given; a call that may not be made then breaks the capture.
  bool refuses(const char* call);

  Status begin_capture();
  Result<std::shared_ptr<Capture>> end_capture();
  Context& context() { return *context_; }

 private:
  void serve();
  void execute(const Command& command);
  void join(const std::shared_ptr<Capture>& capture, const Seen& seen);

  const std::shared_ptr<Context> context_;
  std::shared_ptr<Capture> capture_;  // that this stream is part of
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Command> commands_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace shw::strict
