// Instances of the IOPDDL contest: the one in tests/data always, and the larger ones if SHW_IOPDDL
// names their folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "import/iopddl.h"
#include "solver/problem.h"

namespace shw::solver {
namespace {

struct Instance {
  const char* name;
  double best_known;
  bool proven;    // by this solver, within its limits
  double within;  // factor of best_known
  double time_limit_s;
};

class Iopddl : public ::testing::TestWithParam<Instance> {
 protected:
  // The path of the instance. Empty: not available here.
  static std::string path() {
    if (std::string(GetParam().name) == "B")
      return std::string(SHW_TEST_DATA) + "/iopddl/B.json.gz";
    const char* folder = std::getenv("SHW_IOPDDL");
    return folder == nullptr ? "" : std::string(folder) + "/" + GetParam().name + ".json.gz";
  }
};

TEST_P(Iopddl, IsSolvedAsWellAsIsKnown) {
  if (path().empty()) GTEST_SKIP() << "SHW_IOPDDL names no folder with the larger instances";
  const auto problem = import::read_iopddl(path());
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  SolveOptions options;
  options.deadline = Deadline::in(GetParam().time_limit_s);
  Monitor monitor;
  const auto got = solve(*problem, options, monitor);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->cost, evaluate(*problem, got->choice));
  EXPECT_LE(peak_load(*problem, 0, got->choice), problem->budget_limits()[0]);
  EXPECT_LE(got->cost, GetParam().within * GetParam().best_known);
  EXPECT_LE(got->bound, GetParam().best_known);
  if (GetParam().proven) {
    EXPECT_TRUE(got->proven);
  }
}

INSTANTIATE_TEST_SUITE_P(Contest, Iopddl,
                         ::testing::Values(Instance{"B", 532843, true, 1, 0},
                                           Instance{"G", 217039, true, 1, 0},
                                           Instance{"V", 1617084, true, 1, 0},
                                           Instance{"D", 309396217000, false, 1.005, 100},
                                           Instance{"M", 49928460991, false, 1.01, 60},
                                           Instance{"P", 651833115436, false, 1.03, 60}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace shw::solver
