// The graphs of tests/data/overlap as programs: what one rank of a model that was parallelised by
// hand runs, with shapes inferred from those of its inputs.
//
// Every node is a step, views too, so that a storage lives as long as a node names it. Collectives
// stand on the communication stream and start after the compute step in front of them; their wait
// is a compute step. Values that the graph returns lie in session storages, which are never freed.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "plan/program.h"

namespace shw::testing {

// Milliseconds by collective, label of a group, and size.
class CollectiveTable {
 public:
  explicit CollectiveTable(const std::string& path);
  // `bytes` of the operand. Nullopt: the table does not know such a group.
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
  std::map<std::string, Total> collectives;  // "all_gather 0"
};

// Of a file in tests/data/overlap. Fails the test, and is empty, where a node is not understood.
// Without waits the results of collectives are read directly.
OverlapGraph overlap_graph(const std::string& name, const std::string& table, bool waits = true);

}  // namespace shw::testing
