// Turns the graphs of tests/data/overlap into programs. Each graph is what one rank runs of a model
// that was parallelised by hand. Shapes are inferred from the shapes of the inputs.
//
// Every node is a step, views included, so that a storage lives as long as a node refers to it.
// Collectives run on the communication stream and start after the compute step before them. Their
// wait is a compute step. Values that the graph returns are in session storages, which are never
// freed.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "plan/program.h"

namespace shw::testing {

// Measured times of collectives in milliseconds, by collective, group label and size.
class CollectiveTable {
 public:
  explicit CollectiveTable(const std::string& path);
  // `bytes` is the size of the operand. Nullopt: the table has no such group.
  std::optional<double> ms(const std::string& collective, const std::string& group,
                           int64_t group_size, int64_t bytes) const;

 private:
  static constexpr size_t kSizes = 12;  // 1 MiB, 2 MiB, … 2 GiB
  struct Row {
    std::string label, collective;
    int64_t group_size = 0;
    std::vector<double> ms;
  };
  std::vector<Row> rows_;
};

struct OverlapGraph {
  Program program;
  int64_t input_bytes = 0;
  double flops = 0;  // of matrix products and attention
  uint32_t num_products = 0;
  struct Total {
    uint32_t count = 0;
    int64_t operand_bytes = 0;
    double table_ms = 0;
    uint32_t not_in_table = 0;
  };
  std::map<std::string, Total> collectives;  // keys such as "all_gather 0"
};

// Reads a file in tests/data/overlap. If it contains an unknown node, the test fails and the result
// is empty. Without `waits`, the results of collectives are read directly.
OverlapGraph overlap_graph(const std::string& name, const std::string& table, bool waits = true);

}  // namespace shw::testing
