#include "strict/queue.h"

#include <algorithm>
#include <utility>

namespace shw::strict {

Queue::Queue(std::shared_ptr<Context> context) : context_(std::move(context)) {
  thread_ = std::thread([this] { serve(); });
}

Queue::~Queue() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Queue::push(Command command) {
  if (capture_ != nullptr && !capture_->broken.empty()) return;
  if (capture_ != nullptr) {
    capture_->commands.push_back(std::move(command));
    ++capture_->streams[this][this];
    return;
  }
  {
    std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  changed_.notify_one();
}

void Queue::launch(std::function<void(const Pointers&)> run, void* const* source, size_t count) {
  push({std::move(run), false, Pointers(source, source + count)});
}

void Queue::record(const std::shared_ptr<EventState>& event) {
  uint64_t number;
  {
    std::lock_guard lock(event->mutex);
    event->capture = capture_;
    if (capture_ != nullptr) {
      event->seen = capture_->streams[this];
      return;
    }
    number = ++event->recorded;
  }
  push({[event, number](const Pointers&) {
          {
            std::lock_guard lock(event->mutex);
            event->completed = number;
            event->reached_at = std::chrono::steady_clock::now();
          }
          event->changed.notify_all();
        },
        true});
}

void Queue::wait(const std::shared_ptr<EventState>& event) {
  std::shared_ptr<Capture> capture;
  Seen seen;
  uint64_t number;
  {
    std::lock_guard lock(event->mutex);
    capture = event->capture;
    seen = event->seen;
    number = event->recorded;
  }
  if (capture != nullptr && capture->origin != nullptr) return join(capture, seen);
  if (capture_ != nullptr) {
    if (number > 0) capture_->broken = "a captured stream waited for an event from outside";
    return;
  }
  push({[event, number, context = context_](const Pointers&) {
    std::unique_lock lock(event->mutex);
    while (event->completed < number && !context->lost())
      event->changed.wait_for(lock, std::chrono::milliseconds(1));
  }});
}

void Queue::join(const std::shared_ptr<Capture>& capture, const Seen& seen) {
  if (capture_ != nullptr && capture_ != capture) {
    capture_->broken = "two captures were mixed";
    return;
  }
  capture_ = capture;
  for (const auto& [stream, count] : seen) {
    size_t& known = capture->streams[this][stream];
    known = std::max(known, count);
  }
}

bool Queue::refuses(const char* call) {
  if (capture_ == nullptr) return false;
  capture_->broken = std::string(call) + " was called on a stream that is being captured";
  return true;
}

Status Queue::begin_capture() {
  if (capture_ != nullptr) return failed_precondition("the stream is being captured already");
  capture_ = std::make_shared<Capture>();
  capture_->origin = this;
  capture_->streams[this];
  this_thread().capture = capture_.get();
  return {};
}

Result<std::shared_ptr<Capture>> Queue::end_capture() {
  this_thread().capture = nullptr;
  const std::shared_ptr<Capture> capture = std::move(capture_);
  capture_ = nullptr;
  if (capture == nullptr || capture->origin != this)
    return failed_precondition("no capture was begun on this stream");
  capture->origin = nullptr;  // the capture has ended
  const Seen& known = capture->streams[this];
  for (const auto& [stream, seen] : capture->streams) {
    const_cast<Queue*>(stream)->capture_ = nullptr;
    const auto own = seen.find(stream);
    const auto back = known.find(stream);
    if (own != seen.end() && (back == known.end() || back->second < own->second))
      capture->broken = "a stream that joined the capture was not waited for";
  }
  // Events keep a reference to the capture in which they were recorded, so its commands are moved
  // out: a kept event must not keep them alive.
  const auto result = std::make_shared<Capture>();
  result->commands = std::exchange(capture->commands, {});
  if (!capture->broken.empty()) return failed_precondition("capture: " + capture->broken);
  return result;
}

void Queue::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return commands_.empty() && !busy_; });
}

bool Queue::idle() {
  std::lock_guard lock(mutex_);
  return commands_.empty() && !busy_;
}

void Queue::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !commands_.empty() || ending_; });
    if (commands_.empty()) return;
    const Command command = std::move(commands_.front());
    commands_.pop_front();
    busy_ = true;
    lock.unlock();
    context_->delay();
    execute(command);
    lock.lock();
    busy_ = false;
    if (commands_.empty()) idle_.notify_all();
  }
}

void Queue::execute(const Command& command) {
  if (!context_->lost() || command.even_if_lost) command.run(command.pointers);
}

}  // namespace shw::strict
