// Plans: compiled, saved, loaded, asked.
#ifndef SHARDWISE_CPP_PLAN_HPP_
#define SHARDWISE_CPP_PLAN_HPP_

#include <utility>

#include "shardwise/cpp/context.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

// Options of C with their defaults; setters for those with two fields. What they point to is lent
// until the last call with them.
struct CompileOptions : shw_compile_options {
  CompileOptions() noexcept : shw_compile_options(detail::defaults(shw_compile_options_init)) {}
  CompileOptions& set_mesh(Span<const shw_mesh_axis> axes) noexcept {
    mesh_axes = axes.data();
    num_mesh_axes = axes.size();
    return *this;
  }
  CompileOptions& set_entries(Span<const char* const> names) noexcept {
    entries = names.data();
    num_entries = names.size();
    return *this;
  }
  CompileOptions& set_buckets(Span<const shw_bucket_sizes> sizes) noexcept {
    buckets = sizes.data();
    num_buckets = sizes.size();
    return *this;
  }
  CompileOptions& set_pins(Span<const shw_pin> all) noexcept {
    pins = all.data();
    num_pins = all.size();
    return *this;
  }
  CompileOptions& set_without(Span<const char* const> names) noexcept {
    without = names.data();
    num_without = names.size();
    return *this;
  }
  CompileOptions& set_input_layouts(Span<const shw_port_layout> layouts) noexcept {
    input_layouts = layouts.data();
    num_input_layouts = layouts.size();
    return *this;
  }
  CompileOptions& set_output_layouts(Span<const shw_port_layout> layouts) noexcept {
    output_layouts = layouts.data();
    num_output_layouts = layouts.size();
    return *this;
  }
};

namespace detail {

// A callable as shw_progress_fn, for one call. It takes the progress, and returns true to go on.
// What it throws does not pass through the library: the call is cancelled, and finish() throws it
// again.
template <class F>
class ProgressHook {
 public:
  explicit ProgressHook(F& call) noexcept : call_(&call) {}

  // The options with this hook; it must stay where it is until the call is over.
  template <class Options>
  Options hooked(Options options) noexcept {
    options.progress = tell;
    options.progress_user = this;
    return options;
  }

#ifdef __cpp_exceptions
  // Frees the status, and throws what the callable threw. Without that, it is the status.
  shw_status* finish(shw_status* status) {
    if (thrown_) {
      shw_status_destroy(status);
      std::rethrow_exception(thrown_);
    }
    return status;
  }
#else
  shw_status* finish(shw_status* status) { return status; }
#endif

 private:
  static std::int32_t tell(void* user, const shw_progress* progress) {
    auto& hook = *static_cast<ProgressHook*>(user);
#ifdef __cpp_exceptions
    try {
      return (*hook.call_)(*progress) ? 0 : 1;
    } catch (...) {
      hook.thrown_ = std::current_exception();
      return 1;
    }
#else
    return (*hook.call_)(*progress) ? 0 : 1;
#endif
  }

  F* call_;
#ifdef __cpp_exceptions
  std::exception_ptr thrown_;
#endif
};

}  // namespace detail

class Comparison : public Handle<shw_comparison, shw_comparison_destroy> {
 public:
  using Handle::Handle;
  std::size_t num_unchanged() const noexcept { return shw_comparison_num_unchanged(get()); }
  SHARDWISE_ROWS(comparison, nodes, node, comparison_node)
  SHARDWISE_DOCUMENT(comparison, to_json)
  SHARDWISE_DOCUMENT(comparison, to_text)
};

// The compiled program. Immutable, for any number of threads.
class Plan : public Handle<shw_plan, shw_plan_destroy> {
 public:
  using Handle::Handle;

  static Returned<Plan> compile(const Context& context, shw_bytes graph,
                                const shw_compile_options& options) {
    return detail::make<Plan>(
        [&](shw_plan** out) { return shw_plan_compile(context.get(), graph, &options, out); });
  }
  static Returned<Plan> compile(const Context& context, const Blob& graph,
                                const shw_compile_options& options) {
    return compile(context, bytes(graph), options);
  }
  // Calls progress(const shw_progress&) on this thread; it returns true to go on.
  template <class F>
  static Returned<Plan> compile(const Context& context, const Blob& graph,
                                const shw_compile_options& options, F&& progress) {
    detail::ProgressHook<std::remove_reference_t<F>> hook(progress);
    const shw_compile_options hooked = hook.hooked(options);
    return detail::make<Plan>([&](shw_plan** out) {
      return hook.finish(shw_plan_compile(context.get(), bytes(graph), &hooked, out));
    });
  }
  // The cheapest way from one layout of a tensor ("f32[8192,8192]") to another, without a graph.
  static Returned<Plan> reshard(const Context& context, const char* tensor, const char* from,
                                const char* to, const shw_compile_options& options) {
    return detail::make<Plan>([&](shw_plan** out) {
      return shw_plan_compile_reshard(context.get(), tensor, from, to, &options, out);
    });
  }
  static Returned<Plan> load(const Context& context, shw_bytes plan) {
    return detail::make<Plan>(
        [&](shw_plan** out) { return shw_plan_load(context.get(), plan, out); });
  }
  SHARDWISE_DOCUMENT(plan, save)

  SHARDWISE_SUMMARY(plan, summary)
  SHARDWISE_SUMMARY(plan, effort)
  std::int32_t num_ranks() const noexcept { return shw_plan_num_ranks(get()); }
  std::size_t num_mesh_axes() const noexcept { return shw_plan_num_mesh_axes(get()); }
  Returned<shw_mesh_axis> mesh_axis(std::size_t index) const {
    shw_mesh_axis axis;
    shw_status* status = shw_plan_get_mesh_axis(get(), index, &axis);
    return detail::give(status, axis);
  }
  SHARDWISE_ROWS(plan, ports, port, plan_port)
  SHARDWISE_ROWS(plan, entries, entry, plan_entry)
  SHARDWISE_ROWS(plan, symbols, symbol, symbol)
  SHARDWISE_ROWS(plan, nodes, node, plan_node)
  SHARDWISE_ROWS(plan, steps, step, plan_step)
  SHARDWISE_ROWS(plan, collectives, collective, plan_collective)
  SHARDWISE_ROWS(plan, memory_shares, memory_share, plan_memory_share)
  SHARDWISE_ROWS(plan, phases, phase, plan_phase)

  // The number of a port: of this entry, or of any (SHW_NONE).
  Returned<std::size_t> find_port(const char* name, std::size_t entry = SHW_NONE) const {
    return detail::find(
        [&](std::size_t* out) { return shw_plan_find_port(get(), entry, name, out); });
  }
  // The place of an input or output in an entry, as runs take them.
  Returned<std::size_t> find_input(std::size_t entry, const char* name) const {
    return detail::find(
        [&](std::size_t* out) { return shw_plan_find_input(get(), entry, name, out); });
  }
  Returned<std::size_t> find_output(std::size_t entry, const char* name) const {
    return detail::find(
        [&](std::size_t* out) { return shw_plan_find_output(get(), entry, name, out); });
  }
  // The simulated time of an entry. It is computed by each call.
  Returned<shw_plan_entry_time> entry_time(std::size_t entry) const {
    return detail::fill<shw_plan_entry_time>(
        shw_plan_entry_time_init,
        [&](shw_plan_entry_time* out) { return shw_plan_get_entry_time(get(), entry, out); });
  }
  Returned<std::size_t> find_entry(const char* name) const {
    return detail::find([&](std::size_t* out) { return shw_plan_find_entry(get(), name, out); });
  }
  Returned<std::size_t> choose_bucket(const char* entry, Span<const shw_symbol_size> sizes) const {
    return detail::find([&](std::size_t* out) {
      return shw_plan_choose_bucket(get(), entry, sizes.data(), sizes.size(), out);
    });
  }

  SHARDWISE_DOCUMENT(plan, to_json)
  SHARDWISE_DOCUMENT(plan, to_text)
  SHARDWISE_DOCUMENT(plan, to_module_tree)
  SHARDWISE_DOCUMENT(plan, to_module_tree_text)
  SHARDWISE_DOCUMENT(plan, to_program_text)
  SHARDWISE_DOCUMENT(plan, to_steps)
  SHARDWISE_DOCUMENT(plan, to_steps_text)
  SHARDWISE_DOCUMENT(plan, to_placements)
  // Of one entry; nullptr: of all.
  Returned<Blob> to_trace(const char* entry = nullptr) const {
    return detail::make<Blob>([&](shw_blob** out) { return shw_plan_to_trace(get(), entry, out); });
  }
  // As HTML, beside another plan and a curve; nullptr: none. Why its layouts were chosen:
  // Planner::to_report().
  Returned<Blob> to_report(const Plan* other = nullptr, const shw_pareto* pareto = nullptr) const {
    return detail::make<Blob>([&](shw_blob** out) {
      return shw_plan_to_report(get(), other != nullptr ? other->get() : nullptr, pareto, out);
    });
  }
  Returned<Comparison> compare(const Plan& after) const {
    return detail::make<Comparison>(
        [&](shw_comparison** out) { return shw_plan_compare(get(), after.get(), out); });
  }
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_PLAN_HPP_
