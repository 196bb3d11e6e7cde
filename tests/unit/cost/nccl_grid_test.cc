// Every row of the reference planner's grid of collective costs (tests/data/cost/nccl_grid.csv).
#include <fstream>
#include <sstream>
#include <vector>

#include "test_machines.h"

namespace shw::cost {
namespace {

struct Row {
  NcclConfig config;
  std::string mesh, collective;
  int mesh_dim;
  GroupTopology group;
  std::vector<double> us;
};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

Row parse(const std::vector<std::string>& f) {
  Row row;
  row.config = *machine(f[0].c_str()).nccl;
  row.config.gpus_per_node = std::stoll(f[1]);
  row.config.bw_inter_gbps = std::stod(f[2]);
  row.config.nvswitch = f[3] == "1";
  row.config.has_collnet = f[4] == "1";
  row.config.net_latency_us = std::stod(f[5]);
  if (f[6] != "0") row.config.num_channels = std::stoi(f[6]);
  row.mesh = f[7];
  row.mesh_dim = std::stoi(f[8]);
  row.group = {std::stoll(f[9]), std::stoll(f[10]), std::stoll(f[11])};
  row.collective = f[12];
  for (size_t i = 13; i < f.size(); ++i) row.us.push_back(std::stod(f[i]));
  return row;
}

Collective collective_of(const std::string& name) {
  if (name == "allgather") return Collective::kAllGather;
  if (name == "reduce_scatter") return Collective::kReduceScatter;
  if (name == "allreduce") return Collective::kAllReduce;
  EXPECT_EQ(name, "all_to_all");
  return Collective::kAllToAll;
}

TEST(NcclGrid, EqualsTheReferenceInEveryRow) {
  std::ifstream file(std::string(SHW_TEST_DATA) + "/cost/nccl_grid.csv");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const std::vector<std::string> head = fields_of(line);
  int rows = 0;
  while (std::getline(file, line)) {
    const Row row = parse(fields_of(line));
    Hardware hardware = machine("h100");
    hardware.nccl = row.config;
    const CollectiveModel model = model_of(hardware, row.mesh);
    EXPECT_EQ(model.topology(row.mesh_dim), row.group) << line;
    ASSERT_EQ(row.us.size() + 13, head.size());
    for (size_t i = 0; i < row.us.size(); ++i, ++rows) {
      const int64_t bytes = std::stoll(head[13 + i]);
      EXPECT_TRUE(agrees(model.us(collective_of(row.collective), row.mesh_dim, bytes), row.us[i]))
          << line.substr(0, line.find(row.collective)) << row.collective << " of " << bytes;
    }
  }
  EXPECT_EQ(rows, 2920);
}

}  // namespace
}  // namespace shw::cost
