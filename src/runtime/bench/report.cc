// A benchmark's result as text and as JSON.
#include <algorithm>

#include "runtime/bench/bench.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::runtime {
namespace {

constexpr double kMilli = 1e3, kGiga = 1e-9;

double rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

double planned_seconds(const BenchRank& rank) {
  double sum = 0;
  for (const BenchOp& op : rank.ops) sum += op.planned_seconds;
  return sum;
}

std::string op_line(const BenchOp& op, double whole) {
  std::string text = format("  %10.3f %10.3f %6.1f %% %8lld %6lld", op.seconds * kMilli,
                            op.planned_seconds * kMilli, 100 * rate(op.seconds, whole),
                            static_cast<long long>(op.launches), static_cast<long long>(op.steps));
  text += op.product ? format(" %9.1f", rate(op.flops, op.seconds) * kGiga) : std::string(10, ' ');
  text += format(" %9.1f", rate(op.bytes, op.seconds) * kGiga);
  return text + "  " + op.kernel + "\n";
}

// The floor by vector units, which other libraries use; only shown if it differs.
std::string vector_floor_text(const BenchResult& b) {
  constexpr double kNoise = 1.1;
  if (b.vector_flops_per_second <= 0 ||
      b.cpu_over_vector_floor.median * kNoise > b.cpu_over_floor.median)
    return {};
  return format("         %.3f of products by vectors alone, at %.1f GFLOP/s a core\n",
                b.cpu_over_vector_floor.median, b.vector_flops_per_second * kGiga);
}

std::string floor_text(const BenchResult& b) {
  if (!b.computes)
    return "floor    none: this device computes nothing, and the times are those of launches\n";
  if (b.floor_seconds <= 0) return "floor    none: no matrix products\n";
  const auto worst =
      std::ranges::max_element(b.ranks, {}, [](const BenchRank& r) { return r.over_floor.median; });
  return format("floor    %.3f ms: the matrix products alone, at %.1f GFLOP/s a rank\n",
                b.floor_seconds * kMilli, b.flops_per_second * kGiga) +
         format("ratio    %.3f of a step to its floor, quartiles %.3f and %.3f\n",
                worst->over_floor.median, worst->over_floor.low, worst->over_floor.high) +
         (b.cpu_over_floor.median <= 0
              ? std::string()
              : format("         %.3f by CPU time, quartiles %.3f and %.3f\n",
                       b.cpu_over_floor.median, b.cpu_over_floor.low, b.cpu_over_floor.high)) +
         vector_floor_text(b);
}

void write_quartiles(JsonWriter& json, const char* name, const Quartiles& q) {
  json.key(name).begin_object();
  json.member("low", q.low).member("median", q.median).member("high", q.high).end_object();
}

void write_op(JsonWriter& json, const BenchOp& op) {
  json.begin_object().member("kernel", std::string_view(op.kernel)).member("launches", op.launches);
  json.member("steps", op.steps);
  json.member("seconds", op.seconds).member("planned_seconds", op.planned_seconds);
  json.member("flops", op.flops).member("bytes", op.bytes);
  json.member("flops_per_second", rate(op.flops, op.seconds));
  json.member("bytes_per_second", rate(op.bytes, op.seconds));
  json.member("matrix_product", op.product).end_object();
}

}  // namespace

std::string to_text(const BenchResult& b) {
  std::string text =
      format("bench    '%s' on %zu virtual ranks, device %s%s: %lld runs after %lld to warm up\n",
             b.entry.c_str(), b.ranks.size(), b.device.c_str(),
             b.model.empty() ? "" : (" (" + b.model + ")").c_str(),
             static_cast<long long>(b.repeats), static_cast<long long>(b.warm_up));
  text += format("step     %.3f ms%s, quartiles %.3f and %.3f; %.3f ms of CPU\n",
                 b.seconds.median * kMilli, b.graphs ? " as CUDA graphs" : "",
                 b.seconds.low * kMilli, b.seconds.high * kMilli, b.cpu_seconds * kMilli);
  if (b.whole) return text;
  double planned = 0;
  for (const BenchRank& rank : b.ranks) planned = std::max(planned, planned_seconds(rank));
  text += format("planned  %.3f ms one step after another, on hardware %s\n", planned * kMilli,
                 b.hardware.c_str());
  text += floor_text(b);
  for (size_t r = 0; r < b.ranks.size(); ++r) {
    const BenchRank& rank = b.ranks[r];
    text +=
        format("\nrank %zu: %.3f ms from its first step to its last\n", r, rank.seconds * kMilli);
    text += format("  %10s %10s %8s %8s %6s %9s %9s  %s\n", "ms", "planned", "share", "launches",
                   "steps", "GFLOP/s", "GB/s", "kernel");
    for (const BenchOp& op : rank.ops) text += op_line(op, rank.seconds);
  }
  return text;
}

std::string to_json(const BenchResult& b) {
  JsonWriter json;
  json.begin_object().member("entry", std::string_view(b.entry));
  json.member("device", std::string_view(b.device)).member("model", std::string_view(b.model));
  json.member("hardware", std::string_view(b.hardware)).member("computes", b.computes);
  json.member("whole", b.whole).member("graphs", b.graphs);
  json.member("warm_up", b.warm_up).member("repeats", b.repeats);
  write_quartiles(json, "seconds", b.seconds);
  json.member("cpu_seconds", b.cpu_seconds).member("flops_per_second", b.flops_per_second);
  write_quartiles(json, "cpu_over_floor", b.cpu_over_floor);
  write_quartiles(json, "cpu_over_vector_floor", b.cpu_over_vector_floor);
  json.member("vector_flops_per_second", b.vector_flops_per_second);
  json.member("floor_seconds", b.floor_seconds).key("ranks").begin_array();
  for (const BenchRank& rank : b.ranks) {
    json.begin_object().member("seconds", rank.seconds);
    json.member("planned_seconds", planned_seconds(rank)).member("flops", rank.flops);
    write_quartiles(json, "over_floor", rank.over_floor);
    json.key("kernels").begin_array();
    for (const BenchOp& op : rank.ops) write_op(json, op);
    json.end_array().end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace shw::runtime
