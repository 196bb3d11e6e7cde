// The health of one executor: the first error of its streams and channels, sticky until cleared.
//
// Raising it is also the way to stop: whoever may block registers as a listener and is woken.
// Nothing slow happens in the raising thread; aborting the channels is the monitor's work
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
    // Wakes the listener's waits, and does nothing else: it is called once a fault, from the
    // raising thread, under the fault's lock.
    virtual void on_fault() noexcept = 0;

   protected:
    ~Listener() = default;
  };

  // Knows what was under way when an error came to light.
  class Witness {
   public:
    virtual void add_to(Status& error) const noexcept = 0;

   protected:
    ~Witness() = default;
  };

  // Any thread. The first error stays; later ones are consequences, and are dropped. Allocates
  // nothing.
  void raise(Status error) noexcept;
  // The same of an error that does not say what it is of, as it came to light later: the witness,
  // where there is one, adds that.
  void raise_late(Status error) noexcept;
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  Status status() const;  // OK when nothing was raised
  void clear();           // once everything that listens is idle

  void set_witness(const Witness* witness);  // null: none. While nothing can be raised
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
