// Times kernels at the points of tables. All points of about one size stand in one entry, in mixed
// order: as programs go from one kernel to another, no step follows its like.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/kernel_times.h"
#include "measure/kernel_cases.h"
#include "measure/probe.h"

namespace shw::measure {

class KernelTimer {
 public:
  // Bytes of the first source of operands, and of each of the others.
  KernelTimer(int64_t first_bytes, int64_t other_bytes)
      : maker_({{"rank", 1}}, first_bytes, other_bytes) {}

  ProbeMaker& maker() { return maker_; }
  // A table without points, and its number.
  size_t begin(std::string_view key, Dtype dtype, std::vector<std::vector<int64_t>> sizes);
  // The next point of a table, and where its size counts one of the first axis. `parts`: how many
  // times the step does what the point stands for.
  void add_point(const ProbeMaker::Step& step, size_t table, int64_t parts = 1) {
    points_.push_back({step, table, parts});
  }
  void add_size(size_t table, int64_t size) { tables_[table].sizes[0].push_back(size); }

  // Products of all sizes along `axis`, in a table for each way in which the operands lie.
  void add_products(Dtype dtype, const std::vector<int64_t>& axis);
  // Attention of one head, as in these tables. Heads are timed together, as programs have them:
  // `heads` of them, or more until they have `queries`.
  void add_attention(std::span<const AttentionTable> tables, Dtype dtype,
                     const std::vector<int64_t>& keys, const std::vector<int64_t>& widths,
                     int64_t heads, int64_t queries);
  // Tables of one point: a square product, and a launch that does next to nothing, behind others of
  // its like: the least that a step takes.
  void add_rate(Dtype dtype, int64_t side);
  void add_launch();

  // The tables, in the order in which they were begun.
  Result<std::vector<cost::KernelTimes>> run(const runtime::RankBackend& backend = {});

 private:
  struct Point {
    ProbeMaker::Step step;
    size_t table;
    int64_t parts;
  };

  ProbeMaker maker_;
  std::vector<cost::KernelTimes> tables_;
  std::vector<Point> points_;
  std::optional<size_t> launch_point_;
};

}  // namespace shw::measure
