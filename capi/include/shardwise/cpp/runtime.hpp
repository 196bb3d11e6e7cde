// Running a plan, rank by rank: devices, buffers, worlds, executors, events; and judging results.
#ifndef SHARDWISE_CPP_RUNTIME_HPP_
#define SHARDWISE_CPP_RUNTIME_HPP_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "shardwise/cpp/plan.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// The dtype of a type of C++. Elements of other dtypes, such as bf16, are given as shw_tensor.
template <class T>
constexpr shw_dtype dtype_of() noexcept {
  using E = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<E, float>)
    return SHW_DTYPE_F32;
  else if constexpr (std::is_same_v<E, double>)
    return SHW_DTYPE_F64;
  else if constexpr (std::is_same_v<E, std::int8_t>)
    return SHW_DTYPE_I8;
  else if constexpr (std::is_same_v<E, std::int16_t>)
    return SHW_DTYPE_I16;
  else if constexpr (std::is_same_v<E, std::int32_t>)
    return SHW_DTYPE_I32;
  else if constexpr (std::is_same_v<E, std::int64_t>)
    return SHW_DTYPE_I64;
  else if constexpr (std::is_same_v<E, std::uint8_t>)
    return SHW_DTYPE_U8;
  else if constexpr (std::is_same_v<E, bool>)
    return SHW_DTYPE_BOOL;
  else
    static_assert(!sizeof(T), "no dtype has such elements");
}

// A whole tensor in memory of the caller, row-major. Data and dims are lent. Calls read it only,
// but for those that say that they write.
template <class T>
shw_tensor tensor(const T* data, Span<const std::int64_t> dims) noexcept {
  shw_tensor tensor = {};
  tensor.data = const_cast<T*>(data);
  tensor.dims = dims.data();
  tensor.rank = static_cast<std::int32_t>(dims.size());
  tensor.dtype = dtype_of<T>();
  return tensor;
}

class Device : public Handle<shw_device, shw_device_destroy> {
 public:
  using Handle::Handle;
  static Returned<Device> create(const Context& context, shw_device_kind kind = SHW_DEVICE_CPU,
                                 std::int32_t index = 0) {
    return detail::make<Device>(
        [&](shw_device** out) { return shw_device_create(context.get(), kind, index, out); });
  }
  SHARDWISE_SUMMARY(device, info)
};

// A tensor, or one rank's piece of one. The host reads and writes it between runs.
class Buffer : public Handle<shw_buffer, shw_buffer_destroy> {
 public:
  using Handle::Handle;
  static Returned<Buffer> zeros(const Device& device, shw_dtype dtype,
                                Span<const std::int64_t> dims) {
    return detail::make<Buffer>([&](shw_buffer** out) {
      return shw_buffer_create(device.get(), dtype, dims.data(),
                               static_cast<std::int32_t>(dims.size()), out);
    });
  }
  static Returned<Buffer> copy_of(const Device& device, const shw_tensor& tensor) {
    return detail::make<Buffer>([&](shw_buffer** out) {
      return shw_buffer_import(device.get(), &tensor, SHW_BORROW_COPY, nullptr, nullptr, out);
    });
  }
  // The memory itself. `owner` keeps it alive: it is destroyed, on any thread, when nobody uses the
  // memory any more.
  static Returned<Buffer> borrow(const Device& device, const shw_tensor& tensor,
                                 std::shared_ptr<void> owner) {
    auto held = std::make_unique<std::shared_ptr<void>>(std::move(owner));
    shw_buffer* raw = nullptr;
    shw_status* status = shw_buffer_import(
        device.get(), &tensor, SHW_BORROW_UNTIL_RELEASE,
        [](void* user, void*) { delete static_cast<std::shared_ptr<void>*>(user); }, held.get(),
        &raw);
    if (status == nullptr) held.release();  // NOLINT(bugprone-unused-return-value)
    return detail::give(status, Buffer(raw));
  }

  Returned<shw_tensor> tensor() const {
    shw_tensor tensor;
    shw_status* status = shw_buffer_get_tensor(get(), &tensor);
    return detail::give(status, tensor);
  }
  // All its elements, row-major.
  template <class T>
  Done read(Span<T> values) const {
    return detail::give(shw_buffer_read(get(), values.data(), values.size() * sizeof(T)));
  }
  template <class C>
  Done read(C& values) const {
    return read(Span<std::remove_reference_t<decltype(*std::data(values))>>(values));
  }
  template <class T>
  Done write(Span<const T> values) {
    return detail::give(shw_buffer_write(get(), values.data(), values.size() * sizeof(T)));
  }
  template <class C>
  Done write(const C& values) {
    return write(Span<std::remove_reference_t<decltype(*std::data(values))>>(values));
  }
};

class World : public Handle<shw_world, shw_world_destroy> {
 public:
  using Handle::Handle;
  static Returned<World> virtual_ranks(const Context& context, std::int32_t num_ranks,
                                       const shw_world_options* options = nullptr) {
    return detail::make<World>([&](shw_world** out) {
      return shw_world_create_virtual(context.get(), num_ranks, options, out);
    });
  }
  static Returned<shw_world_id> make_id(const Context& context) {
    shw_world_id id;
    shw_status* status = shw_world_make_id(context.get(), &id);
    return detail::give(status, id);
  }
  static Returned<World> from_id(const Context& context, const shw_world_id& id,
                                 std::int32_t num_ranks, Span<const std::int32_t> local_ranks,
                                 const shw_world_options* options = nullptr) {
    return detail::make<World>([&](shw_world** out) {
      return shw_world_create_from_id(context.get(), &id, num_ranks, local_ranks.data(),
                                      local_ranks.size(), options, out);
    });
  }
  static Returned<World> mpi(const Context& context, const shw_world_options* options = nullptr) {
    return detail::make<World>(
        [&](shw_world** out) { return shw_world_create_mpi(context.get(), options, out); });
  }
  std::int32_t num_ranks() const noexcept { return shw_world_num_ranks(get()); }
  std::size_t num_local_ranks() const noexcept { return shw_world_num_local_ranks(get()); }
  std::int32_t local_rank(std::size_t index) const noexcept {
    return shw_world_local_rank(get(), index);
  }
  Done status() const { return detail::give(shw_world_status(get())); }
  void abort() noexcept { shw_world_abort(get()); }
};

namespace detail {

// Hands a callable over to `notify`, which calls it once.
template <class H, class F>
Done notify(shw_status* (*notify)(const H*, shw_done_fn, void*), const H* handle, F call) {
  auto held = std::make_unique<F>(std::move(call));
  shw_status* status = notify(
      handle,
      [](void* user, shw_code code) {
        const std::unique_ptr<F> mine(static_cast<F*>(user));
        (*mine)(code);
      },
      held.get());
  if (status == nullptr) held.release();  // NOLINT(bugprone-unused-return-value)
  return give(status);
}

}  // namespace detail

// The end of a run.
class Event : public Handle<shw_event, shw_event_destroy> {
 public:
  using Handle::Handle;
  // Enqueue on all local ranks before waiting for any.
  Done wait(std::int64_t timeout_ns = -1) const {
    return detail::give(shw_event_wait(get(), timeout_ns));
  }
  bool done() const noexcept { return shw_event_query(get()) != 0; }
  // Calls call(shw_code) once, from a thread of the library or at once. It must not throw or call
  // the library.
  template <class F>
  Done notify(F call) const {
    return detail::notify(shw_event_notify, get(), std::move(call));
  }
};

// A group of ranks that the body of a manual region talks to: shw_region_call::groups, lent for the
// call of the body. `count` as in C.
class Group {
 public:
  explicit Group(shw_group* raw) noexcept : raw_(raw) {}
  shw_group* get() const noexcept { return raw_; }
  std::int32_t size() const noexcept { return shw_group_size(raw_); }
  std::int32_t member() const noexcept { return shw_group_member(raw_); }

  template <class T>
  Done all_gather(const T* send, T* receive, std::int64_t count) const {
    return detail::give(shw_group_all_gather(raw_, send, receive, count, dtype_of<T>()));
  }
  template <class T>
  Done all_to_all(const T* send, T* receive, std::int64_t count) const {
    return detail::give(shw_group_all_to_all(raw_, send, receive, count, dtype_of<T>()));
  }
  template <class T>
  Done all_to_all_v(const T* send, const std::int64_t* send_counts, T* receive,
                    const std::int64_t* receive_counts) const {
    return detail::give(
        shw_group_all_to_all_v(raw_, send, send_counts, receive, receive_counts, dtype_of<T>()));
  }
  template <class T>
  Done reduce_scatter(const T* send, T* receive, std::int64_t count,
                      const char* reduction = "sum") const {
    return detail::give(
        shw_group_reduce_scatter(raw_, send, receive, count, dtype_of<T>(), reduction));
  }
  template <class T>
  Done all_reduce(const T* send, T* receive, std::int64_t count,
                  const char* reduction = "sum") const {
    return detail::give(shw_group_all_reduce(raw_, send, receive, count, dtype_of<T>(), reduction));
  }

 private:
  shw_group* raw_;
};

// The body of manual regions: a callable that takes const shw_region_call& and returns shw_code. It
// must outlive the executors that are given raw(), and stays where it is. What it throws fails the
// run with SHW_INTERNAL, and is thrown again by rethrow().
template <class F>
class RegionBody {
 public:
  RegionBody(const char* name, F call) : name_(name), call_(std::move(call)) {}
  RegionBody(const RegionBody&) = delete;
  RegionBody& operator=(const RegionBody&) = delete;
  shw_region raw() noexcept { return {name_, run, this}; }

#ifdef __cpp_exceptions
  void rethrow() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
#endif

 private:
  static shw_code run(void* user, const shw_region_call* call) {
    auto& body = *static_cast<RegionBody*>(user);
#ifdef __cpp_exceptions
    try {
      return body.call_(*call);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(body.mutex_);
      if (!body.thrown_) body.thrown_ = std::current_exception();
      return SHW_INTERNAL;
    }
#else
    return body.call_(*call);
#endif
  }

  const char* name_;
  F call_;
#ifdef __cpp_exceptions
  std::mutex mutex_;
  std::exception_ptr thrown_;
#endif
};

struct ExecutorOptions : shw_executor_options {
  ExecutorOptions() noexcept : shw_executor_options(detail::defaults(shw_executor_options_init)) {}
  ExecutorOptions& set_regions(Span<const shw_region> all) noexcept {
    regions = all.data();
    num_regions = all.size();
    return *this;
  }
};

struct Run : shw_run {
  explicit Run(std::size_t number) noexcept : shw_run(detail::defaults(shw_run_init)) {
    entry = number;
  }
  // Elements are lent: raw handles of buffers, in the order of the entry.
  Run& set_inputs(Span<shw_buffer* const> buffers) noexcept {
    inputs = buffers.data();
    num_inputs = buffers.size();
    return *this;
  }
  // In place of nullptr the call writes a new handle, which the caller owns.
  Run& set_outputs(Span<shw_buffer*> buffers) noexcept {
    outputs = buffers.data();
    num_outputs = buffers.size();
    return *this;
  }
};

// One rank's kernels, memory and streams for a plan. One thread at a time, but for abort().
class Executor : public Handle<shw_executor, shw_executor_destroy> {
 public:
  using Handle::Handle;
  static Returned<Executor> create(const Plan& plan, const World& world, std::int32_t rank,
                                   const shw_executor_options* options = nullptr) {
    return detail::make<Executor>([&](shw_executor** out) {
      return shw_executor_create(plan.get(), world.get(), rank, options, out);
    });
  }
  Returned<Event> enqueue(const shw_run& run) {
    return detail::make<Event>(
        [&](shw_event** out) { return shw_executor_enqueue(get(), &run, out); });
  }
  // The executor's own memory of a port, not a copy.
  Returned<Buffer> state(std::size_t port) const {
    return detail::make<Buffer>(
        [&](shw_buffer** out) { return shw_executor_get_state(get(), port, out); });
  }
  void abort() noexcept { shw_executor_abort(get()); }
  void reset() noexcept { shw_executor_reset(get()); }
};

// What entries of one executor leave to entries that run after them.
class Session : public Handle<shw_session, shw_session_destroy> {
 public:
  using Handle::Handle;
  static Returned<Session> create(Executor& executor) {
    return detail::make<Session>(
        [&](shw_session** out) { return shw_session_create(executor.get(), out); });
  }
};

// Cuts one rank's piece of a port out of the whole tensor: into new memory, or into a buffer.
inline Returned<Buffer> shard(const Plan& plan, std::size_t port, std::int32_t rank,
                              const shw_tensor& whole, const Device* device = nullptr) {
  return detail::make<Buffer>([&](shw_buffer** out) {
    return shw_plan_shard(plan.get(), port, rank, &whole,
                          device == nullptr ? nullptr : device->get(), out);
  });
}
inline Done shard_into(const Plan& plan, std::size_t port, std::int32_t rank,
                       const shw_tensor& whole, Buffer& buffer) {
  return detail::give(shw_plan_shard_into(plan.get(), port, rank, &whole, buffer.get()));
}
// Puts a whole tensor together, from the pieces of all ranks in their order.
inline Returned<Buffer> gather(const Plan& plan, std::size_t port, Span<shw_buffer* const> pieces) {
  return detail::make<Buffer>([&](shw_buffer** out) {
    return shw_plan_gather(plan.get(), port, pieces.data(), pieces.size(), out);
  });
}

// How long a plan's steps take on virtual ranks, as JSON or as text.
inline Returned<Blob> bench(const Plan& plan, const shw_bench_options* options = nullptr) {
  return detail::make<Blob>(
      [&](shw_blob** out) { return shw_plan_bench(plan.get(), options, out); });
}

// How fast collectives are between ranks in this process, as JSON or as text.
inline Returned<Blob> bench_collectives(const Context& context,
                                        const shw_collective_bench_options* options = nullptr) {
  return detail::make<Blob>(
      [&](shw_blob** out) { return shw_bench_collectives(context.get(), options, out); });
}

// Are the results of a run right?
class Verification : public Handle<shw_verification, shw_verification_destroy> {
 public:
  using Handle::Handle;
  static Returned<Verification> create(const Plan& plan, const shw_verification_options& options) {
    return detail::make<Verification>(
        [&](shw_verification** out) { return shw_verification_create(plan.get(), &options, out); });
  }
  SHARDWISE_SUMMARY(verification, summary)
  SHARDWISE_ROWS(verification, tensors, tensor, verification_tensor)
  SHARDWISE_DOCUMENT(verification, to_json)
  SHARDWISE_DOCUMENT(verification, to_text)
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_RUNTIME_HPP_
