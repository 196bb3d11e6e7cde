// shw_compile_options: checked and converted.
#include "compile_options.h"

#include <cstring>

#include "cancel.h"
#include "strategy/strategies.h"

namespace shw::capi {
namespace {

constexpr size_t kCompileOptionsSize_0_2 = SHW_SIZE_TO(shw_compile_options, reserved);

Status out_of_range(const char* field, double value) {
  return invalid_argument(std::string(field) + " is " + std::to_string(value));
}

Result<std::string> mesh_text(const shw_mesh_axis* axes, size_t count) {
  if (count == 0) return std::string("rank=1");
  SHW_WANT(axes);
  if (count > kMaxMeshRank)
    return invalid_argument("a mesh has at most " + std::to_string(kMaxMeshRank) + " axes, not " +
                            std::to_string(count));
  std::vector<Mesh::Axis> ours;
  for (size_t i = 0; i < count; ++i) {
    const char* name = axes[i].name;
    if (name == nullptr) return invalid_argument("mesh axis " + std::to_string(i) + " has no name");
    if (std::strpbrk(name, ",=") != nullptr)
      return invalid_argument("mesh axis '" + std::string(name) + "': , and = separate axes");
    ours.push_back({name, axes[i].size});
  }
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(std::move(ours)));
  return mesh.to_string();
}

Result<Rules> rules_of(shw_rules rules) {
  switch (rules) {
    case 0:
    case SHW_RULES_FULL:
      return Rules::kFull;
    case SHW_RULES_COMPAT:
      return Rules::kCompat;
    default:
      return invalid_argument("rules " + std::to_string(rules) + " is unknown");
  }
}

// Each kind of overlap has a field of its own.
Result<OverlapOptions> overlap_of(const shw_compile_options& in) {
  OverlapOptions out;
  if (in.overlap < 0 || in.overlap > SHW_OVERLAP_BOUNDED)
    return invalid_argument("overlap " + std::to_string(in.overlap) + " is unknown");
  if (in.overlap != SHW_OVERLAP_PREFETCH && in.prefetch_scale != 0)
    return invalid_argument("prefetch_scale goes with SHW_OVERLAP_PREFETCH only");
  if (in.overlap != SHW_OVERLAP_BOUNDED && in.bounded_share != 0)
    return invalid_argument("bounded_share goes with SHW_OVERLAP_BOUNDED only");
  if (in.overlap == SHW_OVERLAP_PREFETCH)
    out = {.kind = Overlap::kPrefetch, .scale = in.prefetch_scale};
  if (in.overlap == SHW_OVERLAP_BOUNDED)
    out = {.kind = Overlap::kBounded, .scale = in.bounded_share};
  SHW_RETURN_IF_ERROR(check(out));
  return out;
}

// The caller's layouts, pins and constraints to leave out.
Status read_constraints(const shw_compile_options& in, CompileOptions& out) {
  if (in.input_layout != nullptr) out.input_layout = in.input_layout;
  if (in.output_layout != nullptr) out.output_layout = in.output_layout;
  SHW_ASSIGN_OR_RETURN(out.inputs,
                       layouts_of(in.input_layouts, in.num_input_layouts, "input_layouts"));
  SHW_ASSIGN_OR_RETURN(out.outputs,
                       layouts_of(in.output_layouts, in.num_output_layouts, "output_layouts"));
  SHW_ASSIGN_OR_RETURN(out.pins, layouts_of(in.pins, in.num_pins, "pins"));
  SHW_ASSIGN_OR_RETURN(out.without, names_of(in.without, in.num_without, "without"));
  SHW_ASSIGN_OR_RETURN(out.rules, rules_of(in.rules));
  if (in.grad_reduce_dtype == 0) return {};
  out.grad_reduce_dtype = dtype_from_number(in.grad_reduce_dtype);
  if (!out.grad_reduce_dtype)
    return invalid_argument("grad_reduce_dtype " + std::to_string(in.grad_reduce_dtype) +
                            " is unknown");
  return {};
}

Status read_memory(const shw_compile_options& in, CompileOptions& out) {
  constexpr double kMaxOptimizerFactor = 1e6;
  SHW_ASSIGN_OR_RETURN(out.parameter_budget, budget_of(in.param_budget, in.param_budget_factor));
  SHW_ASSIGN_OR_RETURN(out.memory_limit_bytes, memory_limit_of(in.memory_limit_bytes));
  if (!(in.optimizer_factor >= 0 && in.optimizer_factor <= kMaxOptimizerFactor))
    return out_of_range("optimizer_factor", in.optimizer_factor);
  out.optimizer_factor = in.optimizer_factor;
  if (in.recompute != nullptr) {
    SHW_ASSIGN_OR_RETURN(out.recompute, recompute_policy(in.recompute));
  }
  if (in.prefetch_bytes < 0)
    return out_of_range("prefetch_bytes", static_cast<double>(in.prefetch_bytes));
  if (in.prefetch_depth < 0 || in.prefetch_depth > INT32_MAX)
    return out_of_range("prefetch_depth", static_cast<double>(in.prefetch_depth));
  out.prefetch_bytes = in.prefetch_bytes;
  out.prefetch_depth = static_cast<uint32_t>(in.prefetch_depth);
  return {};
}

Result<std::vector<BucketSizes>> buckets_of(const shw_bucket_sizes* buckets, size_t count) {
  std::vector<BucketSizes> ours;
  if (count != 0) SHW_WANT(buckets);
  for (size_t i = 0; i < count; ++i) {
    const shw_bucket_sizes& b = buckets[i];
    const std::string what = "buckets[" + std::to_string(i) + "]";
    if (b.symbol == nullptr) return invalid_argument(what + ".symbol is NULL");
    if (b.sizes == nullptr && b.num_sizes != 0) return invalid_argument(what + ".sizes is NULL");
    ours.push_back({b.entry == nullptr ? "" : b.entry, b.symbol, {b.sizes, b.sizes + b.num_sizes}});
  }
  return ours;
}

Result<CompileOptions> convert(const shw_compile_options& in) {
  SHW_RETURN_IF_ERROR(
      check_flags(in.flags, SHW_COMPILE_NO_EINSUM | SHW_COMPILE_NO_GRAPH | SHW_COMPILE_STRIDED));
  SHW_RETURN_IF_ERROR(check_reserved(in.reserved));
  CompileOptions out;
  out.einsum = (in.flags & SHW_COMPILE_NO_EINSUM) == 0;
  out.strided = (in.flags & SHW_COMPILE_STRIDED) != 0;
  out.keep_graph = (in.flags & SHW_COMPILE_NO_GRAPH) == 0;
  SHW_ASSIGN_OR_RETURN(out.mesh, mesh_text(in.mesh_axes, in.num_mesh_axes));
  SHW_ASSIGN_OR_RETURN(out.hardware,
                       hardware_of(in.hardware, in.hardware_description, "hardware_description"));
  SHW_ASSIGN_OR_RETURN(out.entries, names_of(in.entries, in.num_entries, "entries"));
  SHW_ASSIGN_OR_RETURN(out.buckets, buckets_of(in.buckets, in.num_buckets));
  SHW_RETURN_IF_ERROR(read_constraints(in, out));
  SHW_RETURN_IF_ERROR(read_memory(in, out));
  SHW_ASSIGN_OR_RETURN(out.overlap, overlap_of(in));
  if (in.num_threads < 0) return out_of_range("num_threads", in.num_threads);
  out.solver.threads = static_cast<uint32_t>(in.num_threads);
  SHW_ASSIGN_OR_RETURN(out.time_limit_s, time_limit_of(in.time_limit_s));
  out.start_clock();
  return out;
}

template <class T>
Result<Layouts> read_layouts(const T* items, size_t count, const char* T::*subject,
                             const char* what) {
  Layouts ours;
  if (count != 0 && items == nullptr)
    return invalid_argument(std::string(what) + " is NULL, and its number is " +
                            std::to_string(count));
  for (size_t i = 0; i < count; ++i) {
    if (items[i].*subject == nullptr || items[i].layout == nullptr)
      return invalid_argument(std::string(what) + "[" + std::to_string(i) +
                              "]: its name or its layout is NULL");
    ours.emplace_back(items[i].*subject, items[i].layout);
  }
  return ours;
}

}  // namespace

Result<std::span<const uint8_t>> bytes_of(shw_bytes bytes, const char* what) {
  if (bytes.data == nullptr && bytes.size != 0)
    return invalid_argument(std::string(what) + ".data is NULL and its size is not 0");
  return std::span(static_cast<const uint8_t*>(bytes.data), bytes.size);
}

Result<std::string> hardware_of(const char* name, shw_bytes description, const char* what) {
  SHW_ASSIGN_OR_RETURN(const auto bytes, bytes_of(description, what));
  if (name != nullptr && !bytes.empty())
    return invalid_argument("hardware and " + std::string(what) + ": only one can be given");
  if (bytes.empty() && name == nullptr) return CompileOptions().hardware;
  const std::string text =
      bytes.empty() ? std::string(name) : std::string(bytes.begin(), bytes.end());
  // The compiler takes both in one text, and tells them apart by the first character.
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string::npos && text[first] == '{';
  if (is_object == bytes.empty())
    return invalid_argument(bytes.empty()
                                ? "hardware is a name; a description goes in " + std::string(what)
                                : std::string(what) + " is not a JSON object");
  return text;
}

Result<Layouts> layouts_of(const shw_pin* pins, size_t count, const char* what) {
  return read_layouts(pins, count, &shw_pin::pattern, what);
}

Result<Layouts> layouts_of(const shw_port_layout* ports, size_t count, const char* what) {
  return read_layouts(ports, count, &shw_port_layout::port, what);
}

Result<std::vector<std::string>> names_of(const char* const* names, size_t count,
                                          const char* what) {
  if (count != 0 && names == nullptr)
    return invalid_argument(std::string(what) + " is NULL, and its number is " +
                            std::to_string(count));
  std::vector<std::string> ours;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr)
      return invalid_argument(std::string(what) + "[" + std::to_string(i) + "] is NULL");
    ours.emplace_back(names[i]);
  }
  return ours;
}

Result<ParameterBudget> budget_of(shw_param_budget kind, double factor) {
  if (kind != SHW_PARAM_BUDGET_FACTOR && factor != 0)
    return invalid_argument("param_budget_factor goes with SHW_PARAM_BUDGET_FACTOR only");
  switch (kind) {
    case 0:
    case SHW_PARAM_BUDGET_SMALLEST:
      return ParameterBudget{};
    case SHW_PARAM_BUDGET_NONE:
      return ParameterBudget{.kind = ParameterBudget::Kind::kNone};
    case SHW_PARAM_BUDGET_FACTOR:
      if (!(factor > 0 && factor <= 1))
        return invalid_argument("param_budget_factor is " + std::to_string(factor) +
                                ", expected more than 0 and at most 1");
      return ParameterBudget{.kind = ParameterBudget::Kind::kFactor, .factor = factor};
    default:
      return invalid_argument("param_budget " + std::to_string(kind) + " is unknown");
  }
}

Result<int64_t> memory_limit_of(int64_t bytes) {
  if (bytes < 0) return invalid_argument("memory_limit_bytes is " + std::to_string(bytes));
  return bytes;
}

Result<double> time_limit_of(double seconds) {
  if (!(seconds >= 0)) return out_of_range("time_limit_s", seconds);
  return seconds;
}

Monitor monitor_of(const shw_cancel* cancel, shw_progress_fn progress, void* progress_user) {
  Monitor monitor;
  if (cancel != nullptr) monitor.cancel = &cancel->raised;
  if (progress != nullptr)
    monitor.on_progress = [progress, progress_user](const Progress& p) {
      const std::string phase(p.phase);
      const shw_progress c = {sizeof c, phase.c_str(), p.best_cost_us, p.lower_bound_us,
                              p.elapsed_s};
      return progress(progress_user, &c) != 0;
    };
  return monitor;
}

Result<CompileRequest> read_options(const shw_compile_options* options, const TaskExecutor& tasks) {
  SHW_ASSIGN_OR_RETURN(const shw_compile_options ours, copy_in(options, kCompileOptionsSize_0_2));
  SHW_ASSIGN_OR_RETURN(CompileOptions converted, convert(ours));
  converted.solver.tasks = tasks;
  Monitor monitor = monitor_of(ours.cancel, ours.progress, ours.progress_user);
  SHW_RETURN_IF_ERROR(monitor.poll());
  return CompileRequest{std::move(converted), std::move(monitor)};
}

}  // namespace shw::capi

void shw_compile_options_init(shw_compile_options* options, size_t size) {
  shw::capi::init_struct(options, size);
}
