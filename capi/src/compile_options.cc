// shw_compile_options: checked and converted.
#include "compile_options.h"

#include <cmath>

#include "cancel.h"
#include "mesh_axes.h"
#include "strategy/strategies.h"

namespace shw::capi {
namespace {

constexpr size_t kCompileOptionsSize_0_2 = SHW_SIZE_TO(shw_compile_options, reserved);

template <class T>
Status out_of_range(const std::string& field, T value) {
  return invalid_argument(field + " is " + std::to_string(value));
}

// ---- Read an option of CompileOptions, by its type, from the fields of shw_compile_options. The
// first of these fields is called `name`. ----

template <class T>
Status read(T&, const std::string&) {  // there is no field for this option
  return {};
}
Status read(bool& out, const std::string&, bool value) {
  out = value;
  return {};
}
Status read(std::string& out, const std::string&, const char* text) {
  if (text != nullptr) out = text;
  return {};
}
Status read(std::string& mesh, const std::string&, const shw_mesh_axis* axes, size_t count) {
  SHW_ASSIGN_OR_RETURN(const Mesh ours, mesh_of(axes, count));
  mesh = ours.to_string();
  return {};
}
Status read(std::string& hardware, const std::string&, const char* name, shw_bytes description) {
  SHW_ASSIGN_OR_RETURN(hardware, hardware_of(name, description, "hardware_description"));
  return {};
}
Status read(Names& out, const std::string& name, const char* const* names, size_t count) {
  SHW_ASSIGN_OR_RETURN(out, names_of(names, count, name.c_str()));
  return {};
}
template <class T>
Status read(NamedLayouts& out, const std::string& name, const T* layouts, size_t count) {
  SHW_ASSIGN_OR_RETURN(out, layouts_of(layouts, count, name.c_str()));
  return {};
}
Status read(double& out, const std::string& name, double value, double most = HUGE_VAL) {
  if (!(value >= 0 && value <= most)) return out_of_range(name, value);
  out = value;
  return {};
}
Status read(int64_t& out, const std::string& name, int64_t value) {
  if (value < 0) return out_of_range(name, value);
  out = value;
  return {};
}
Status read(uint32_t& out, const std::string& name, int64_t value) {
  if (value < 0 || value > INT32_MAX) return out_of_range(name, value);
  out = static_cast<uint32_t>(value);
  return {};
}
Status read(ParameterBudget& out, const std::string&, shw_param_budget kind, double factor) {
  SHW_ASSIGN_OR_RETURN(out, budget_of(kind, factor));
  return {};
}
Status read(std::optional<Dtype>& out, const std::string& name, shw_dtype dtype) {
  if (dtype == 0) return {};
  out = dtype_from_number(dtype);
  return out ? Status() : invalid_argument(name + ' ' + std::to_string(dtype) + " is unknown");
}
Status read(RecomputePolicy& out, const std::string&, const char* policy) {
  if (policy == nullptr) return {};
  SHW_ASSIGN_OR_RETURN(out, recompute_policy(policy));
  return {};
}
Status read(Rules& out, const std::string&, shw_rules rules) {
  switch (rules) {
    case 0:
    case SHW_RULES_FULL:
      out = Rules::kFull;
      return {};
    case SHW_RULES_COMPAT:
      out = Rules::kCompat;
      return {};
    default:
      return invalid_argument("rules " + std::to_string(rules) + " is unknown");
  }
}

// Each kind of overlap has its own field.
Status read(OverlapOptions& out, const std::string&, shw_overlap overlap, double prefetch_scale,
            double bounded_share) {
  if (overlap < 0 || overlap > SHW_OVERLAP_SIMULATED)
    return invalid_argument("overlap " + std::to_string(overlap) + " is unknown");
  if (overlap != SHW_OVERLAP_PREFETCH && prefetch_scale != 0)
    return invalid_argument("prefetch_scale is only valid with overlap SHW_OVERLAP_PREFETCH");
  if (overlap != SHW_OVERLAP_BOUNDED && bounded_share != 0)
    return invalid_argument("bounded_share is only valid with overlap SHW_OVERLAP_BOUNDED");
  if (overlap == SHW_OVERLAP_NONE) out = {.kind = Overlap::kNone};
  if (overlap == SHW_OVERLAP_PREFETCH) out = {.kind = Overlap::kPrefetch, .scale = prefetch_scale};
  if (overlap == SHW_OVERLAP_BOUNDED) out = {.kind = Overlap::kBounded, .scale = bounded_share};
  if (overlap == SHW_OVERLAP_SIMULATED) out = {.kind = Overlap::kSimulated};
  return check(out);
}

Status read(Buckets& out, const std::string&, const shw_bucket_sizes* buckets, size_t count) {
  if (count != 0) SHW_WANT(buckets);
  for (size_t i = 0; i < count; ++i) {
    const shw_bucket_sizes& b = buckets[i];
    const std::string what = "buckets[" + std::to_string(i) + "]";
    if (b.symbol == nullptr) return invalid_argument(what + ".symbol is NULL");
    if (b.sizes == nullptr && b.num_sizes != 0) return invalid_argument(what + ".sizes is NULL");
    out.push_back({b.entry == nullptr ? "" : b.entry, b.symbol, {b.sizes, b.sizes + b.num_sizes}});
  }
  return {};
}

// "(c.pins, c.num_pins)" → "pins"
std::string first_field(std::string_view fields) {
  const size_t dot = fields.find('.');
  if (dot == fields.npos) return {};
  fields.remove_prefix(dot + 1);
  return std::string(fields.substr(0, fields.find_first_of(",) ")));
}

Result<CompileOptions> convert(const shw_compile_options& c) {
  SHW_RETURN_IF_ERROR(check_flags(c.flags, SHW_COMPILE_NO_EINSUM | SHW_COMPILE_NO_GRAPH |
                                               SHW_COMPILE_STRIDED | SHW_COMPILE_LEND_OUTPUTS));
  SHW_RETURN_IF_ERROR(check_reserved(c.reserved));
  CompileOptions out;
#define SHW_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define SHW_OPTION(type, name, initial, fields, ...) \
  SHW_RETURN_IF_ERROR(read(out.name, first_field(#fields) SHW_ARGUMENTS fields));
#include "compiler/options.inc"
#undef SHW_OPTION
#undef SHW_ARGUMENTS
  SHW_RETURN_IF_ERROR(read(out.solver.threads, "num_threads", c.num_threads));
  out.start();
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
  // The compiler accepts both in a single text, and distinguishes them by the first character.
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
    return invalid_argument(
        "param_budget_factor is only valid with param_budget SHW_PARAM_BUDGET_FACTOR");
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
  SHW_RETURN_IF_ERROR(read(bytes, "memory_limit_bytes", bytes));
  return bytes;
}

Result<double> time_limit_of(double seconds) {
  SHW_RETURN_IF_ERROR(read(seconds, "time_limit_s", seconds));
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

Result<CompileRequest> read_compile_options(const shw_compile_options* options,
                                            const TaskExecutor& tasks) {
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
