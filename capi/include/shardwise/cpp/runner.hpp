// All ranks of a plan in this process, used as one: whole tensors in, whole tensors out.
#ifndef SHARDWISE_CPP_RUNNER_HPP_
#define SHARDWISE_CPP_RUNNER_HPP_

#include <cstdint>
#include <iterator>
#include <utility>

#include "shardwise/cpp/runtime.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

namespace detail {

// Copies the elements of a whole tensor that a call gave, and frees it.
template <class C>
Done read_whole(shw_status* status, shw_buffer* whole, C& values) {
  const Buffer owned(whole);
  if (status == nullptr)
    status =
        shw_buffer_read(whole, std::data(values), std::size(values) * sizeof(*std::data(values)));
  return give(status);
}

}  // namespace detail

// A port and the whole tensor for it, both lent.
using NamedTensor = shw_named_tensor;

// A run that a runner started. Destroying it does not stop the run.
class Pending : public Handle<shw_pending, shw_pending_destroy> {
 public:
  using Handle::Handle;
  // Of the whole run, on all ranks.
  Done wait(std::int64_t timeout_ns = -1) const {
    return detail::give(shw_pending_wait(get(), timeout_ns));
  }
  bool done() const noexcept { return shw_pending_query(get()) != 0; }
  // Calls call(shw_code) once, from a thread of the library or at once. It must not throw or call
  // the library.
  template <class F>
  Done notify(F call) const {
    return detail::notify(shw_pending_notify, get(), std::move(call));
  }
  // An output, whole, row-major, on the CPU. Waits for the run.
  Returned<Buffer> gather(const char* output) const {
    return detail::make<Buffer>(
        [&](shw_buffer** out) { return shw_pending_gather(get(), output, out); });
  }
  // Its elements.
  template <class C>
  Done read(const char* output, C& values) const {
    shw_buffer* whole = nullptr;
    shw_status* status = shw_pending_gather(get(), output, &whole);
    return detail::read_whole(status, whole, values);
  }
};

class Runner : public Handle<shw_runner, shw_runner_destroy> {
 public:
  using Handle::Handle;
  // On virtual ranks of its own. `options` are those of every rank's executor.
  static Returned<Runner> create(Plan plan, const shw_executor_options* options = nullptr) {
    return in_world(World(), std::move(plan), options);
  }
  // In a world whose ranks are all of this process.
  static Returned<Runner> in_world(const World& world, Plan plan,
                                   const shw_executor_options* options = nullptr) {
    shw_runner* raw = nullptr;
    shw_status* status = shw_runner_create(plan.get(), world.get(), options, &raw);
    Runner runner(raw);
    runner.plan_ = std::move(plan);
    return detail::give(status, std::move(runner));
  }

  const Plan& plan() const noexcept { return plan_; }

  // Writes and reads a tensor that the executors keep: "param.w".
  Done set_state(const char* name, const shw_tensor& whole) {
    return detail::give(shw_runner_set_state(get(), name, &whole));
  }
  Returned<Buffer> gather_state(const char* name) {
    return detail::make<Buffer>(
        [&](shw_buffer** out) { return shw_runner_gather_state(get(), name, out); });
  }
  template <class C>
  Done read_state(const char* name, C& values) {
    shw_buffer* whole = nullptr;
    shw_status* status = shw_runner_gather_state(get(), name, &whole);
    return detail::read_whole(status, whole, values);
  }

  // One run on all ranks, to its end. `inputs` are all that the entry takes, in any order; the
  // elements of `outputs`, those that are wanted, are written.
  Done run(const char* entry, Span<const NamedTensor> inputs,
           Span<const NamedTensor> outputs = {}) {
    return detail::give(
        shw_runner_run(get(), entry, inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  // Starts a run and does not wait for it: several may be in flight. Its outputs are read from the
  // answer.
  Returned<Pending> start(const char* entry, Span<const NamedTensor> inputs) {
    return detail::make<Pending>([&](shw_pending** out) {
      return shw_runner_start(get(), entry, inputs.data(), inputs.size(), out);
    });
  }
  // Stops what runs, from any thread. The runner can be used again.
  void abort() noexcept { shw_runner_abort(get()); }

 private:
  Plan plan_;
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_RUNNER_HPP_
