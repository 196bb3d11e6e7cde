// Times of collectives as nccl-tests prints them, and as JSON.
#include <unistd.h>

#include "runtime/bench/collectives.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::runtime {
namespace {

constexpr double kInMicroseconds = 1e6, kInGigabytes = 1e-9;

struct Names {
  CollectiveKind kind;
  const char *program, *reduction;
};
constexpr Names kNames[] = {{CollectiveKind::kAllGather, "all_gather_perf", "none"},
                            {CollectiveKind::kReduceScatter, "reduce_scatter_perf", "sum"},
                            {CollectiveKind::kAllReduce, "all_reduce_perf", "sum"},
                            {CollectiveKind::kAllToAll, "alltoall_perf", "none"},
                            {CollectiveKind::kPermute, "sendrecv_perf", "none"}};

const Names& names_of(CollectiveKind kind) {
  for (const Names& n : kNames)
    if (n.kind == kind) return n;
  return kNames[0];
}

const char* type_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return "double";
    case Dtype::kF16:
      return "half";
    case Dtype::kBF16:
      return "bfloat16";
    case Dtype::kI32:
      return "int32";
    case Dtype::kI64:
      return "int64";
    default:
      return "float";
  }
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string table_of(const CollectiveBenchResult& r, const CollectiveTimes& times) {
  const Names& names = names_of(times.kind);
  std::string text = format("# Collective test starting: %s\n", names.program);
  const std::string host = host_name();
  for (int64_t i = 0; i < r.group_size; ++i)
    text += format("#  Rank %2lld Group  0 Pid %6d on %s device %2lld %s\n",
                   static_cast<long long>(i), static_cast<int>(getpid()), host.c_str(),
                   static_cast<long long>(i), (r.model.empty() ? r.device : r.model).c_str());
  text += format("#\n# %10s %13s %9s %7s %7s %10s %8s %8s %7s\n", "size", "count", "type", "redop",
                 "root", "time", "algbw", "busbw", "#wrong");
  text += format("# %10s %13s %9s %7s %7s %10s %8s %8s\n", "(B)", "(elements)", "", "", "", "(us)",
                 "(GB/s)", "(GB/s)");
  double sum = 0;
  int64_t wrong = 0;
  for (const CollectiveTime& t : times.sizes) {
    text += format("%12lld %13lld %9s %7s %7d %10.2f %8.2f %8.2f %7lld\n",
                   static_cast<long long>(t.bytes), static_cast<long long>(t.count),
                   type_name(r.dtype), names.reduction, -1, t.seconds * kInMicroseconds,
                   t.algorithm_bandwidth * kInGigabytes, t.bus_bandwidth * kInGigabytes,
                   static_cast<long long>(t.wrong));
    sum += t.bus_bandwidth;
    wrong += t.wrong;
  }
  const double sizes = times.sizes.empty() ? 1 : static_cast<double>(times.sizes.size());
  return text + format("# Out of bounds values : %lld %s\n# Avg bus bandwidth    : %g\n#\n",
                       static_cast<long long>(wrong), wrong == 0 ? "OK" : "FAILED",
                       sum * kInGigabytes / sizes);
}

}  // namespace

std::string to_text(const CollectiveBenchResult& r) {
  std::string text = format(
      "# shardwise bench --collectives: device %s%s, %lld ranks in groups of "
      "%lld; warmup iters: %lld iters: %lld\n",
      r.device.c_str(), r.model.empty() ? "" : (" (" + r.model + ")").c_str(),
      static_cast<long long>(r.ranks), static_cast<long long>(r.group_size),
      static_cast<long long>(r.warm_up), static_cast<long long>(r.repeats));
  for (const CollectiveTimes& times : r.collectives) text += table_of(r, times);
  return text;
}

std::string to_json(const CollectiveBenchResult& r) {
  JsonWriter json;
  json.begin_object().member("device", std::string_view(r.device));
  json.member("model", std::string_view(r.model)).member("dtype", dtype_name(r.dtype));
  json.member("ranks", r.ranks).member("group_size", r.group_size);
  json.member("warm_up", r.warm_up).member("repeats", r.repeats).member("wrong", r.wrong());
  json.key("collectives").begin_array();
  for (const CollectiveTimes& times : r.collectives)
    for (const CollectiveTime& t : times.sizes) {
      json.begin_object().member("collective", collective_name(times.kind));
      json.member("bytes", t.bytes).member("count", t.count).member("seconds", t.seconds);
      json.member("algorithm_bytes_per_second", t.algorithm_bandwidth);
      json.member("bus_bytes_per_second", t.bus_bandwidth).member("wrong", t.wrong).end_object();
    }
  return json.end_array().end_object().take();
}

}  // namespace shw::runtime
