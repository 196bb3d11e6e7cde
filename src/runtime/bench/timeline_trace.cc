// The measured timelines of a benchmark as Chrome trace events.
#include <map>

#include "runtime/bench/bench.h"
#include "support/json_writer.h"

namespace shw::runtime {
namespace {

constexpr double kTraceUnit = 1e6;

class TimelineTrace {
 public:
  TimelineTrace() {
    json_.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
  }
  void add_rank(int64_t rank, const BenchRank& of) {
    describe("process_name", rank, 0, "rank " + std::to_string(rank));
    std::map<std::string, int64_t> tracks;
    for (const BenchLaunch& launch : of.timeline) {
      const auto [track, added] =
          tracks.try_emplace(launch.stream, static_cast<int64_t>(tracks.size()) + 1);
      if (added) describe("thread_name", rank, track->second, launch.stream);
      event("X", rank, track->second).member("name", std::string_view(launch.kernel));
      json_.member("ts", launch.begin_s * kTraceUnit);
      json_.member("dur", (launch.end_s - launch.begin_s) * kTraceUnit).key("args").begin_object();
      json_.member("step", int64_t{launch.step});
      json_.member("planned_us", launch.planned_seconds * kTraceUnit);
      if (launch.node >= 0) json_.member("node", launch.node);
      json_.end_object().end_object();
    }
  }
  std::string take() { return json_.end_array().end_object().take(); }

 private:
  JsonWriter& event(const char* phase, int64_t rank, int64_t track) {
    return json_.begin_object().member("ph", phase).member("pid", rank).member("tid", track);
  }
  void describe(const char* what, int64_t rank, int64_t track, const std::string& name) {
    event("M", rank, track).member("name", what).key("args").begin_object();
    json_.member("name", std::string_view(name)).end_object().end_object();
  }

  JsonWriter json_;
};

}  // namespace

std::string to_trace(const BenchResult& result) {
  TimelineTrace trace;
  for (size_t r = 0; r < result.ranks.size(); ++r)
    trace.add_rank(static_cast<int64_t>(r), result.ranks[r]);
  return trace.take();
}

}  // namespace shw::runtime
