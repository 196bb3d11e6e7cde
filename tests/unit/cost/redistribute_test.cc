// Prices of redistributions: worked examples of the reference planner, and corner cases of the
// rules.
#include "cost/redistribute.h"

#include <cmath>
#include <limits>

#include "test_machines.h"

namespace shw::cost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Layout layout(const std::string& text, int mesh_rank = 2) {
  const auto l = parse_layout(text, mesh_rank);
  EXPECT_TRUE(l.ok()) << l.status().message();
  return *l;
}

// A cluster with unknown links: the default model prices its collectives.
Hardware h100_without_nccl() {
  Hardware hardware = machine("h100");
  hardware.nccl.reset();
  return hardware;
}

// The reference planner computed these figures. They are printed with six decimals.
TEST(Redistribute, ReproducesTheWorkedExamples) {
  const Roofline roofline(machine("h100").device);
  const CollectiveModel nccl = model_of(machine("h100"), "8x8");
  const CollectiveModel plain = model_of(h100_without_nccl(), "8x8");
  const double activation = 2.0 * 16 * 8192 * 4096, weight = 2.0 * 4096 * 14336;
  const double square = 2.0 * 4096 * 4096;
  const struct {
    double bytes;
    bool contiguous;
    const char *from, *to;
    double nccl_us, default_us;
  } kExamples[] = {
      {activation, true, "S(0)S(1)", "S(0)R", 474.765273, 1362.060514},
      {activation, true, "S(0)P", "S(0)S(1)", 474.765273, 1362.060514},
      {activation, true, "S(0)P", "S(0)R", 533.688120, 2509.298746},
      {activation, true, "S(0)S(1)", "S(0)S(2)", 120.178354, 859.496143},
      {activation, true, "S(0)R", "RR", 19664.538871, 45376.386286},
      {activation, true, "PP", "S(0)S(1)", 6139.289540, 16515.244894},
      {activation, true, "PP", "RR", 42002.229813, 110715.562538},
      {weight, true, "S(0)S(0)", "RS(0)", 364.194337, 645.531648},
      {weight, true, "S(0)S(0)", "RR", 692.266702, 1747.587350},
      {weight, true, "S(1)S(1)", "RS(1)", 375.581493, 656.918804},
      {weight, true, "S(1)S(0)", "S(0)S(1)", 170.781598, 668.274132},
      {2 * weight, true, "PS(0)", "S(0)S(0)", 641.192860, 1265.563297},
      {2 * weight, true, "PP", "S(0)S(0)", 1267.337591, 3458.874699},
      {2 * weight, true, "PP", "S(1)S(0)", 1290.111903, 3481.649011},
      {square, false, "RS(0)", "RR", 122.163533, 329.587343},
      {square, true, "RS(0)", "RR", 115.163533, 322.587343},
  };
  int number = 24;
  for (const auto& e : kExamples) {
    SCOPED_TRACE(++number);
    const Layout from = layout(e.from), to = layout(e.to);
    EXPECT_NEAR(redistribute_us(nccl, roofline, e.bytes, e.contiguous, from, to), e.nccl_us,
                5.1e-7);
    EXPECT_NEAR(redistribute_us(plain, roofline, e.bytes, e.contiguous, from, to), e.default_us,
                5.1e-7);
  }
}

class RedistributeRules : public ::testing::Test {
 protected:
  double us(const char* from, const char* to, bool contiguous = true,
            PriceRules rules = PriceRules::kCompat) const {
    return redistribute_us(model_, roofline_, kBytes, contiguous, layout(from), layout(to), rules);
  }
  static constexpr double kBytes = 1 << 24;
  const CollectiveModel model_ = model_of(machine("h100"), "8x8");
  const Roofline roofline_{machine("h100").device};
};

TEST_F(RedistributeRules, SlicingIsFree) {
  EXPECT_EQ(us("RR", "S(0)R"), 0);
  EXPECT_EQ(us("RR", "S(1)S(0)", false), 0) << "from full replication even of a strided value";
  EXPECT_EQ(us("S(0)R", "S(0)S(1)"), 0);
  EXPECT_EQ(us("S(0)R", "S(0)S(1)", false), roofline_.rw_us(2 * kBytes / 8)) << "but for the copy";
}

TEST_F(RedistributeRules, NothingBecomesPartial) {
  for (const char* rules : {"compat", "full"}) {
    const auto r = std::string(rules) == "full" ? PriceRules::kFull : PriceRules::kCompat;
    EXPECT_EQ(us("RR", "PR", true, r), kInfinity);
    EXPECT_EQ(us("RR", "RM", true, r), kInfinity);
    EXPECT_EQ(us("S(0)R", "S(0)P", true, r), kInfinity);
    EXPECT_EQ(us("S(0)R", "PR", true, r), kInfinity);
    EXPECT_EQ(us("S(0)P", "S(0)P", true, r), 0);
  }
}

TEST_F(RedistributeRules, OnlyCompatGivesPartialToPartialAway) {
  EXPECT_EQ(us("PR", "P(max)R"), 0);
  EXPECT_EQ(us("MR", "PR"), 0);
  EXPECT_EQ(us("PR", "P(max)R", true, PriceRules::kFull), kInfinity);
  EXPECT_EQ(us("MR", "PR", true, PriceRules::kFull), kInfinity);
  EXPECT_EQ(us("PP", "S(0)R", true, PriceRules::kFull), us("PP", "S(0)R"));
}

TEST_F(RedistributeRules, MaskedPartialIsReducedLikeASum) {
  EXPECT_EQ(us("MR", "RR"), us("PR", "RR"));
  EXPECT_EQ(us("S(0)M", "S(0)S(1)"), us("S(0)P", "S(0)S(1)"));
}

TEST_F(RedistributeRules, OnlyTwoSumsScatterTheInnerDimFirst) {
  EXPECT_LT(us("PP", "S(0)S(0)"), us("P(avg)P(avg)", "S(0)S(0)"));
  EXPECT_EQ(us("MM", "S(0)S(0)"), us("P(avg)P(avg)", "S(0)S(0)"));
  EXPECT_EQ(us("PP", "S(0)R"), us("P(avg)P(avg)", "S(0)R"));
}

// The blocks of a strided shard are arranged in memory like those of an inner dim.
TEST_F(RedistributeRules, StridedShardsCostWhatShardsOfAnInnerDimDo) {
  EXPECT_EQ(us("S(0)SS(0,8)", "S(0)SS(0,8)"), 0);
  EXPECT_EQ(us("RR", "RSS(0,8)"), 0);
  EXPECT_EQ(us("RSS(0,8)", "RR"), us("RS(1)", "RR"));
  EXPECT_EQ(us("S(0)SS(0,8)", "S(0)R"), us("S(0)S(1)", "S(0)R"));
  EXPECT_EQ(us("RP", "RSS(0,8)"), us("RP", "RS(1)"));
  EXPECT_EQ(us("PP", "S(0)SS(0,8)"), us("PP", "S(0)S(1)"));
  EXPECT_EQ(us("RSS(0,8)", "RS(0)"), us("RS(1)", "RS(0)"));
  EXPECT_EQ(us("RSS(0,8)", "RS(1)"), us("RS(1)", "RS(2)"));
}

TEST_F(RedistributeRules, StridedShardsAreForbiddenWhereTheyDoNotUnfoldTogether) {
  EXPECT_EQ(us("RSS(0,8)", "RSS(0,4)"), kInfinity);
  EXPECT_EQ(us("RSS(0,8)", "SS(0,4)R"), kInfinity);
  EXPECT_EQ(us("S(0)R", "RSS(0,12)"), kInfinity) << "8 does not divide the factor";
  EXPECT_EQ(us("RSS(0,8)", "S(0)S(0)"), kInfinity);
  EXPECT_LT(us("RSS(0,8)", "RSS(1,4)"), kInfinity) << "factors of different dims do not meet";
}

TEST_F(RedistributeRules, TransitionCountsAnyChange) {
  EXPECT_EQ(transition_us(layout("S(0)R"), layout("S(0)R")), 0);
  EXPECT_EQ(transition_us(layout("RR"), layout("S(0)R")), 1);
  EXPECT_EQ(transition_us(layout("MR"), layout("PR")), 1);
  EXPECT_EQ(transition_us(layout("S(0)S(0)"), layout("S(0)S(0)|1,0")), 1);
}

std::vector<Layout> all_layouts(int mesh_rank) {
  const std::vector<std::string> one = {"R", "S(0)", "S(1)", "P", "P(avg)", "M", "SS(0,8)"};
  std::vector<std::string> texts = {""};
  for (int d = 0; d < mesh_rank; ++d) {
    std::vector<std::string> longer;
    for (const std::string& t : texts)
      for (const std::string& p : one) longer.push_back(t + p);
    texts = longer;
  }
  std::vector<Layout> layouts;
  for (const std::string& t : texts) layouts.push_back(layout(t, mesh_rank));
  return layouts;
}

TEST(RedistributeMatrix, EqualsPairByPair) {
  for (const char* shape : {"8", "2x4", "4x2x3"}) {
    SCOPED_TRACE(shape);
    const CollectiveModel model = model_of(machine("h100"), shape);
    const Roofline roofline(machine("h100").device);
    std::vector<Layout> from = all_layouts(model.mesh().rank()), to = from;
    from.push_back(from[1]);  // duplicates, as strategies with several operands have
    to.insert(to.begin(), to[2]);
    std::vector<double> got(from.size() * to.size());
    for (const PriceRules rules : {PriceRules::kCompat, PriceRules::kFull})
      for (const bool contiguous : {true, false}) {
        redistribute_matrix(model, roofline, 1e8, contiguous, from, to, got, rules);
        for (size_t i = 0; i < from.size(); ++i)
          for (size_t j = 0; j < to.size(); ++j)
            ASSERT_EQ(got[i * to.size() + j],
                      redistribute_us(model, roofline, 1e8, contiguous, from[i], to[j], rules))
                << to_string(from[i], model.mesh().rank()) << " to "
                << to_string(to[j], model.mesh().rank());
      }
  }
}

TEST(ValueMeta, ReadsBytesAndContiguity) {
  const ValueMeta row = value_meta(row_major(Dtype::kBF16, {4, 8}));
  EXPECT_EQ(row.bytes, 64);
  EXPECT_TRUE(row.contiguous);
  EXPECT_FALSE(value_meta({{4, 8}, {1, 4}, Dtype::kF32}).contiguous);
}

}  // namespace
}  // namespace shw::cost
