// The implementation of strict streams: a thread that executes commands in order, captures, and
// events.
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
  // Only for captured commands: each launch of the graph calls this and runs the result in place of
  // `run`.
  std::function<std::function<void(const Pointers&)>()> at_launch = {};
};

class Queue;

// For each stream, how many of its captured commands are known to be complete.
using Seen = std::map<const Queue*, size_t>;

// The commands that streams were given between the begin and the end of a capture. They are in the
// order in which they were enqueued, which is a valid order of execution.
struct Capture {
  Queue* origin = nullptr;
  std::vector<Command> commands;
  std::map<const Queue*, Seen> streams;
  std::string broken;  // why the capture is invalid; empty: it is valid
};

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, completed = 0;
  std::chrono::steady_clock::time_point reached_at;
  std::shared_ptr<Capture> capture;  // the capture that the latest record belongs to, or null
  Seen seen;

  bool done(uint64_t record) {
    std::lock_guard lock(mutex);
    return completed >= record;
  }
};

class Queue : public std::enable_shared_from_this<Queue> {
 public:
  explicit Queue(std::shared_ptr<Context> context);
  ~Queue();  // waits until all commands are done
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void push(Command command);
  // Launches a kernel. Its pointers are read now, not when the kernel runs.
  void launch(std::function<void(const Pointers&)> run, void* const* source, size_t count);
  void record(const std::shared_ptr<EventState>& event);
  void wait(const std::shared_ptr<EventState>& event);
  void drain();
  bool idle();  // no command is queued or running
  bool is_capturing() const { return capture_ != nullptr; }
  // Whether the stream is capturing. If so, `call`, which a capture does not permit, invalidates
  // the capture.
  bool refuses(const char* call);

  Status begin_capture();
  Result<std::shared_ptr<Capture>> end_capture();
  Context& context() { return *context_; }

 private:
  void serve();
  void execute(const Command& command);
  void join(const std::shared_ptr<Capture>& capture, const Seen& seen);

  const std::shared_ptr<Context> context_;
  std::shared_ptr<Capture> capture_;  // the capture that this stream is part of, or null
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Command> commands_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace shw::strict
