// Redistributions that the reference planner priced in real problems (tests/data/cost/edges.csv).
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "cost/redistribute.h"
#include "test_machines.h"

namespace shw::cost {
namespace {

TEST(Edges, EqualTheReferenceInEveryRow) {
  const Roofline roofline(machine("h100").device);
  std::map<std::string, CollectiveModel> models;
  std::ifstream file(std::string(SHW_TEST_DATA) + "/cost/edges.csv");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  int rows = 0, infinite = 0;
  while (std::getline(file, line)) {
    SCOPED_TRACE(line);
    std::vector<std::string> field;
    std::istringstream in(line);
    for (std::string f; std::getline(in, f, ',');) field.push_back(f);
    ASSERT_EQ(field.size(), 6u);
    auto at = models.find(field[0]);
    if (at == models.end())
      at = models.emplace(field[0], model_of(machine("h100"), field[0])).first;
    const CollectiveModel& model = at->second;
    const auto from = parse_layout(field[3], model.mesh().rank());
    const auto to = parse_layout(field[4], model.mesh().rank());
    ASSERT_TRUE(from.ok() && to.ok());
    const double want = std::stod(field[5]);  // "inf" where forbidden
    EXPECT_TRUE(agrees(
        redistribute_us(model, roofline, std::stod(field[1]), field[2] == "1", *from, *to), want));
    ++rows;
    infinite += std::isinf(want);
  }
  EXPECT_GE(rows, 3000);
  EXPECT_GE(infinite, 100);
  EXPECT_EQ(models.size(), 5u);  // 8, 2x8, 8x8, 4x4x4, 2x4
}

}  // namespace
}  // namespace shw::cost
