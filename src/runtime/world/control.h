// Control messages between the processes of a world: which rank joined a job with which program,
// that a job ends, and what a rank dispatched last. The messages are small. A thread of the world
// sends and receives them, so they are delivered even while streams compute or wait.
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
    kLeft,        // will run no more collectives of `job`
    kAbortJob,    // ends collectives of `job` up to `epoch`; the body is the cause
    kAbortWorld,  // ends everything; the body is the cause
    kAsk,         // asks what the receiver dispatched last in `job`
    kTell,        // the answer, as text
    kBye,         // the sender destroys its world
  };
  uint32_t kind = 0;
  uint32_t epoch = 0;  // kAsk and kTell: the number of the question
  uint64_t job = 0;
  std::string body;  // truncated to kMaxBody bytes
};

class Control {
 public:
  static constexpr int32_t kTag = 0;
  // MPI sends messages of this size immediately, without a handshake with the receiver.
  static constexpr size_t kMaxBody = 2048;
  // Called on the control thread; must not wait for messages.
  using Handler = std::function<void(int64_t from, const ControlMessage& message)>;

  // `transport` must outlive this object.
  Control(Transport& transport, Handler handler);
  // Sends queued messages as far as possible without waiting for other ranks. The handler is not
  // called any more.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void start();  // begins to send and receive
  // Any thread, including the handler; returns at once.
  void send(int64_t to, const ControlMessage& message);
  void send_to_others(const ControlMessage& message);
  // While an object of this class exists, the thread polls for messages more often. For waits for
  // an answer.
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
  std::list<Parcel> under_way_;  // used by the thread only
  std::string incoming_;
  std::thread thread_;
};

}  // namespace shw::runtime
