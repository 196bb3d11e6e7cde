// The error state of one executor: the first error of its streams and channels, sticky until
// cleared.
//
// Raising the fault is also how an executor is stopped: every object that may block registers as a
// listener and is woken. The raising thread does nothing slow; the monitor aborts the channels
// (run_monitor.h).
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "support/status.h"

namespace shw::runtime {

class Fault {
 public:
  class Listener {
   public:
    // Must only wake the listener's waiting threads. Called once per fault, from the raising
    // thread, with the fault's lock held.
    virtual void on_fault() noexcept = 0;

   protected:
    ~Listener() = default;
  };

  // Adds to an error which work was running when the error was detected.
  class Witness {
   public:
    virtual void add_to(Status& error) const noexcept = 0;

   protected:
    ~Witness() = default;
  };

  // Any thread. The first error is kept; later ones are consequences of it and are dropped. Does
  // not allocate.
  void raise(Status error) noexcept;
  // Like raise(), for an error that was reported late and therefore does not name the work that
  // failed. The witness, if there is one, adds that.
  void raise_late(Status error) noexcept;
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  Status status() const;  // OK when nothing was raised
  void clear();           // call only while all listeners are idle

  void set_witness(const Witness* witness);  // null: none. Call while no error can be raised
  void add_listener(Listener* listener);
  void remove_listener(Listener* listener);

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> raised_{false};
  Status error_;
  std::vector<Listener*> listeners_;
  std::atomic<const Witness*> witness_{nullptr};
};

}  // namespace shw::runtime
