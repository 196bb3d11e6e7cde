// Collectives on virtual ranks. Values are small integers, so that every reduction is exact in any
// order and results can be compared bit by bit.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/collective/local.h"
#include "runtime/collective/past_caches.h"
#include "runtime/collective/reduce.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime {
namespace {

using shw::testing::make_tensor;
using shw::testing::ProgramBuilder;
using shw::testing::values_of;
using shw::testing::view_of;

struct MeshCase {
  std::vector<Mesh::Axis> mesh;
  std::vector<std::vector<uint8_t>> axes;  // groups to try
};

std::vector<MeshCase> mesh_cases() {
  return {{{{"a", 8}}, {{0}}},
          {{{"a", 2}, {"b", 4}}, {{0}, {1}, {0, 1}, {1, 0}}},
          {{{"a", 2}, {"b", 2}, {"c", 2}}, {{1}, {2, 0}, {0, 1, 2}, {2, 1, 0}, {1, 2}}}};
}

// The ranks of `rank`'s group in the order of their member numbers, by the definition in program.h.
std::vector<int64_t> group_of(const Mesh& mesh, const std::vector<uint8_t>& axes, int64_t rank) {
  std::vector<std::pair<std::vector<int64_t>, int64_t>> members;
  for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
    bool same = true;
    for (int d = 0; d < mesh.rank(); ++d)
      if (std::find(axes.begin(), axes.end(), d) == axes.end())
        same = same && mesh.coordinate(r, d) == mesh.coordinate(rank, d);
    if (!same) continue;
    std::vector<int64_t> key;
    for (uint8_t a : axes) key.push_back(mesh.coordinate(r, a));
    members.emplace_back(key, r);
  }
  std::sort(members.begin(), members.end());
  std::vector<int64_t> ranks;
  for (const auto& m : members) ranks.push_back(m.second);
  return ranks;
}

// A tensor [ranks, count] of which rank r holds row r.
Layout one_row_a_rank(const Mesh& mesh) {
  Layout layout;
  for (int d = 0; d < mesh.rank(); ++d) layout[d] = Placement::shard(0);
  return layout;
}

double element(int64_t rank, int64_t i) { return static_cast<double>((rank * 5 + i * 3) % 7 - 2); }

double reduce(ReduceOp op, const std::vector<double>& v) {
  double r = v[0];
  for (size_t i = 1; i < v.size(); ++i) {
    if (op == ReduceOp::kMax)
      r = std::max(r, v[i]);
    else if (op == ReduceOp::kMin)
      r = std::min(r, v[i]);
    else if (op == ReduceOp::kProduct)
      r *= v[i];
    else
      r += v[i];
  }
  return op == ReduceOp::kAvg ? r / static_cast<double>(v.size()) : r;
}

// The result on `rank`, by the definitions in program.h.
std::vector<double> expected(CollectiveKind kind, ReduceOp op, const std::vector<int64_t>& group,
                             int64_t rank, int64_t count) {
  const auto n = static_cast<int64_t>(group.size());
  const int64_t me = std::find(group.begin(), group.end(), rank) - group.begin();
  const int64_t block = count / n;
  std::vector<double> out;
  switch (kind) {
    case CollectiveKind::kAllGather:
      for (int64_t r : group)
        for (int64_t i = 0; i < count; ++i) out.push_back(element(r, i));
      break;
    case CollectiveKind::kReduceScatter:
      for (int64_t i = me * block; i < (me + 1) * block; ++i) {
        std::vector<double> v;
        for (int64_t r : group) v.push_back(element(r, i));
        out.push_back(reduce(op, v));
      }
      break;
    case CollectiveKind::kAllReduce:
      for (int64_t i = 0; i < count; ++i) {
        std::vector<double> v;
        for (int64_t r : group) v.push_back(element(r, i));
        out.push_back(reduce(op, v));
      }
      break;
    case CollectiveKind::kAllToAll:
      for (int64_t r : group)
        for (int64_t i = me * block; i < (me + 1) * block; ++i) out.push_back(element(r, i));
      break;
    case CollectiveKind::kPermute:  // ProgramBuilder reverses the order of axes
    case CollectiveKind::kNone:
      break;
  }
  return out;
}

// The result on `rank` of a permute to the reversed order of axes, by the definition in program.h.
std::vector<double> permuted(const Mesh& mesh, const std::vector<uint8_t>& axes, int64_t rank,
                             int64_t count) {
  const std::vector<int64_t> before = group_of(mesh, axes, rank);
  const std::vector<int64_t> after = group_of(mesh, {axes.rbegin(), axes.rend()}, rank);
  const int64_t from =
      before[static_cast<size_t>(std::find(after.begin(), after.end(), rank) - after.begin())];
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(element(from, i));
  return out;
}

void check(const MeshCase& c, const std::vector<uint8_t>& axes, CollectiveKind kind, ReduceOp op,
           Dtype dtype, int64_t count) {
  ProgramBuilder b(c.mesh);
  const Mesh mesh = b.mesh();
  const int64_t ranks = mesh.num_ranks();
  const Layout rows = one_row_a_rank(mesh);
  const auto n = static_cast<int64_t>(group_of(mesh, axes, 0).size());
  const ValueId x = b.input("x", dtype, {ranks, count}, rows);
  const int64_t result = kind == CollectiveKind::kAllGather       ? count * n
                         : kind == CollectiveKind::kReduceScatter ? count / n
                                                                  : count;
  const ValueId y = b.collective(kind, axes, x, {1, result}, op);
  b.output("y", y, {ranks, result}, rows);
  auto job = VirtualRanks::create(b.finish());
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor in =
      make_tensor(dtype, {ranks, count}, [&](int64_t i) { return element(i / count, i % count); });
  const HostTensorView views[] = {view_of(in)};
  auto out = (*job)->run("step", views);
  ASSERT_TRUE(out.ok()) << out.status().message();
  HostTensor want = make_tensor(dtype, {ranks, result}, [](int64_t) { return 0; });
  for (int64_t r = 0; r < ranks; ++r) {
    const auto row = kind == CollectiveKind::kPermute
                         ? permuted(mesh, axes, r, count)
                         : expected(kind, op, group_of(mesh, axes, r), r, count);
    ASSERT_EQ(static_cast<int64_t>(row.size()), result);
    for (int64_t i = 0; i < result; ++i)
      shw::testing::set(want.data.data(), dtype, r * result + i, row[static_cast<size_t>(i)]);
  }
  EXPECT_EQ((*out)[0].data, want.data);
}

std::string text(const std::vector<uint8_t>& axes) {
  std::string s;
  for (uint8_t a : axes) s += std::to_string(a);
  return s;
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                     CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMax, ReduceOp::kMin,
                             ReduceOp::kProduct};

TEST(LocalCollective, EveryKindOnEveryGroupOfEveryMesh) {
  for (const MeshCase& c : mesh_cases())
    for (const auto& axes : c.axes)
      for (CollectiveKind kind : kKinds) {
        SCOPED_TRACE("axes " + text(axes) + " kind " + std::to_string(static_cast<int>(kind)));
        check(c, axes, kind, ReduceOp::kSum, Dtype::kF32, 24);
      }
}

TEST(LocalCollective, EveryReductionOfEveryDtype) {
  const MeshCase c{{{"a", 2}, {"b", 2}}, {}};
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kI8, Dtype::kI16,
                      Dtype::kI32, Dtype::kI64})
    for (ReduceOp op : kOps)
      for (CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::string(reduce_op_name(op)));
        check(c, {1, 0}, kind, op, dtype, 20);
      }
}

TEST(LocalCollective, MovesEveryDtype) {
  const MeshCase c{{{"a", 2}, {"b", 2}}, {}};
  for (int number = 1; number <= 13; ++number)
    for (CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kAllToAll, CollectiveKind::kPermute}) {
      SCOPED_TRACE(number);
      check(c, {0, 1}, kind, ReduceOp::kSum, *dtype_from_number(number), 12);
    }
}

TEST(LocalCollective, ReducesNoFloat8) {
  for (Dtype dtype : testing::kFloat8)
    for (ReduceOp op : kOps)
      EXPECT_EQ(runtime::reduce_function(op, dtype).status().code(), Code::kUnimplemented);
}

// Results that bypass the caches have the same bits, wherever they begin in a cache line. This also
// holds if the result is one of the sources.
TEST(LocalCollective, ReducesTheSamePastTheCaches) {
  constexpr int64_t kMembers = 3, kCount = 1501, kShift = 5;
  const auto numbers = [](Dtype dtype, int64_t member) {
    return make_tensor(dtype, {kCount + kShift}, [&](int64_t i) {
      return static_cast<double>((i * 37 + member * 11) % 101) / 8 - 3;
    });
  };
  const auto reduced = [&](ReduceFn reduce, Dtype dtype, bool in_place, bool past_caches) {
    std::vector<HostTensor> sources, results;
    for (int64_t m = 0; m < kMembers; ++m) {
      sources.push_back(numbers(dtype, m));
      results.push_back(make_tensor(dtype, {kCount + kShift}, [](int64_t) { return 1; }));
    }
    std::vector<const void*> from;
    std::vector<void*> to;
    for (auto& s : sources) from.push_back(s.data.data());
    for (auto& r : in_place ? sources : results) to.push_back(r.data.data());
    reduce({from.data(), kMembers, kShift, to.data(), kMembers, in_place ? kShift : 2, kCount - 1,
            past_caches});
    fence_past_caches();
    std::vector<std::vector<std::byte>> all;
    for (auto& r : in_place ? sources : results) all.emplace_back(r.data.begin(), r.data.end());
    return all;
  };
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kI8, Dtype::kU8,
                      Dtype::kBool, Dtype::kI16, Dtype::kI32, Dtype::kI64, Dtype::kC64})
    for (ReduceOp op : kOps)
      for (const bool in_place : {false, true}) {
        const auto reduce = reduce_function(op, dtype);
        if (!reduce.ok()) continue;  // this reduction has no meaning for the dtype
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::string(reduce_op_name(op)));
        EXPECT_EQ(reduced(*reduce, dtype, in_place, true),
                  reduced(*reduce, dtype, in_place, false));
      }
}

TEST(LocalCollective, CopiesPastTheCachesFromAndToAnywhere) {
  std::vector<std::byte> from(700), to(700);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 200, 512, 560})
    for (size_t begin = 0; begin < 70; ++begin) {
      std::ranges::fill(to, std::byte{0});
      copy_past_caches(to.data() + begin, from.data() + begin % 9, bytes);
      fence_past_caches();
      std::vector<std::byte> want(to.size());
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin % 9), bytes,
                  want.begin() + static_cast<std::ptrdiff_t>(begin));
      ASSERT_EQ(to, want) << bytes << " bytes at " << begin;
    }
}

// The data is large enough that members share the work. Its sizes are not multiples of the pieces.
TEST(LocalCollective, SharesLargeWork) {
  const MeshCase c{{{"a", 2}, {"b", 2}}, {}};
  for (CollectiveKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    check(c, {1, 0}, kind, ReduceOp::kSum, Dtype::kF32, 4 * 40009);
    check(c, {0}, kind, ReduceOp::kSum, Dtype::kBF16, 2 * 100003);
  }
}

// The same for results that bypass the caches.
TEST(LocalCollective, SharesWorkLargerThanCaches) {
  const MeshCase c{{{"a", 3}}, {}};
  for (CollectiveKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    check(c, {0}, kind, ReduceOp::kSum, Dtype::kF32, 3 * 540011);
  }
}

TEST(LocalCollective, WorksWithNothingToSend) {
  const MeshCase c{{{"a", 2}}, {}};
  for (CollectiveKind kind : kKinds) check(c, {0}, kind, ReduceOp::kSum, Dtype::kF32, 0);
}

// Rounding reveals the order: 2^24 + 1 + 1 is 2^24 when added from the left, and 2^24 + 2 from the
// right.
TEST(LocalCollective, AddsInTheOrderOfMembers) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    ProgramBuilder b({{"a", 3}});
    const Layout rows = one_row_a_rank(b.mesh());
    const ValueId x = b.input("x", Dtype::kF32, {3, 1}, rows);
    const ValueId y = b.collective(CollectiveKind::kAllReduce, {0}, x, {1, 1});
    b.output("y", y, {3, 1}, rows);
    auto job = VirtualRanks::create(b.finish());
    ASSERT_TRUE(job.ok()) << job.status().message();
    const HostTensor in =
        make_tensor(Dtype::kF32, {3, 1}, [](int64_t i) { return i == 0 ? 16777216.0 : 1.0; });
    const HostTensorView views[] = {view_of(in)};
    auto out = (*job)->run("step", views);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ(values_of((*out)[0]), std::vector<double>(3, 16777216.0));
  }
}

TEST(LocalCollective, RefusesTheMaximumOfComplexNumbers) {
  ProgramBuilder b({{"a", 2}});
  const Layout rows = one_row_a_rank(b.mesh());
  const ValueId x = b.input("x", Dtype::kC64, {2, 1}, rows);
  b.output("y", b.collective(CollectiveKind::kAllReduce, {0}, x, {1, 1}, ReduceOp::kMax), {2, 1},
           rows);
  const auto job = VirtualRanks::create(b.finish());
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(job.status().node_index(), 0);
}

}  // namespace
}  // namespace shw::runtime
