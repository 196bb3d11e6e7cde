// What processes of a world tell each other beside data: who joined a job with which program, that
// a job ends, what a rank dispatched last. Small messages, sent and received by a thread of the
// world's own, so that they get through while streams compute or wait.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/world/transport.h"

namespace shw::runtime {

using Clock = std::chrono::steady_clock;

struct ControlMessage {
  enum Kind : uint32_t {
    kHello = 1,   // joins `job`; the body is its ProgramIdentity
    kLeft,        // will do no more collectives of `job`
    kAbortJob,    // ends collectives of `job` up to `epoch`; the body is the cause
    kAbortWorld,  // ends everything; the body is the cause
    kAsk,         // what did you dispatch last in `job`?
    kTell,        // the answer, as text
    kBye,         // destroys its world
  };
  uint32_t kind = 0;
  uint32_t epoch = 0;  // of kAsk and kTell: the question's number
  uint64_t job = 0;
  std::string body;  // cut off after kMaxBody bytes
};

class Control {
 public:
  static constexpr int32_t kTag = 0;
  static constexpr size_t kMaxBody = 2048;  // MPI passes so little on at once, without a handshake
  // Called on the control thread; must not wait for messages.
  using Handler = std::function<void(int64_t from, const ControlMessage& message)>;

  // `transport` must outlive this object.
  Control(Transport& transport, Handler handler);
  // Sends what is queued, as far as that takes no waiting for other ranks; handles nothing more.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void start();  // from now on messages come and go
  // Any thread, also the handler; returns at once.
  void send(int64_t to, const ControlMessage& message);
  void send_to_others(const ControlMessage& message);
  // While somebody waits for an answer, the thread looks for it more often.
  class Hurry {
   public:
    explicit Hurry(Control& control) : control_(control) {
      ++control_.in_a_hurry_;
      control_.wake_.notify_one();
    }
    ~Hurry() { --control_.in_a_hurry_; }
    Hurry(const Hurry&) = delete;
    Hurry& operator=(const Hurry&) = delete;

   private:
    Control& control_;
  };

 private:
  struct Parcel {
    int64_t to = 0;
    std::string bytes;
    Transport::Request request = 0;
  };
  void serve();
  void send_queued();
  void receive_all();

  Transport& transport_;
  const Handler handler_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Parcel> queued_;
  bool ending_ = false;
  std::atomic<int> in_a_hurry_{0};
  std::list<Parcel> under_way_;  // of the thread
  std::string incoming_;
  std::thread thread_;
};

}  // namespace shw::runtime
