// Cases that collectives must pass in every kind of world. Each program runs in that world and on
// virtual ranks, and the results must be equal bit by bit. tests/unit/runtime checks virtual ranks
// against the definitions. Values are arbitrary floats whose sums are not exact, so the order of a
// reduction matters, too.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "runtime/collective/members.h"
#include "runtime/collective/reduce.h"
#include "runtime/host_tensor.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::cts {

struct CollectiveCase {
  std::vector<Mesh::Axis> mesh;
  std::vector<uint8_t> axes;
  CollectiveKind kind;
  ReduceOp op = ReduceOp::kSum;
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;  // elements of each rank's operand
};

inline std::string to_string(const CollectiveCase& c) {
  std::string text = "mesh";
  for (const Mesh::Axis& a : c.mesh) text += " " + std::to_string(a.size);
  text += ", axes";
  for (uint8_t a : c.axes) text += " " + std::to_string(a);
  return text + ", kind " + std::to_string(static_cast<int>(c.kind)) + ", " +
         std::string(reduce_op_name(c.op)) + " of " + std::string(dtype_name(c.dtype)) + "[" +
         std::to_string(c.count) + "]";
}

inline constexpr CollectiveKind kCollectiveKinds[] = {
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
    CollectiveKind::kAllToAll, CollectiveKind::kPermute};

// Cases for four ranks.
inline std::vector<CollectiveCase> collective_cases() {
  const std::vector<Mesh::Axis> line = {{"a", 4}}, square = {{"a", 2}, {"b", 2}};
  std::vector<CollectiveCase> cases;
  for (CollectiveKind kind : kCollectiveKinds) {
    const bool in_blocks =
        kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll;
    // A count must be a multiple of the number of blocks.
    const int64_t block = in_blocks ? 4 : 1;
    for (const auto& axes : {std::vector<uint8_t>{0}, {1}, {0, 1}, {1, 0}})
      cases.push_back({square, axes, kind, ReduceOp::kSum, Dtype::kF32, 24});
    // Empty, one element, odd counts, and counts that exceed one message or do not divide evenly
    // into several.
    for (int64_t count : {0, 1, 7, 1023, 2049, 70001, 300007})
      cases.push_back({line, {0}, kind, ReduceOp::kSum, Dtype::kF32, count * block});
    cases.push_back({square, {1, 0}, kind, ReduceOp::kSum, Dtype::kBF16, 150001 * block});
  }
  // A permute along one mesh dim moves nothing. These cases send data.
  for (int64_t count : {0, 1, 1023, 70001, 300007})
    cases.push_back({square, {0, 1}, CollectiveKind::kPermute, ReduceOp::kSum, Dtype::kF32, count});
  for (int number = 1; number <= 13; ++number) {
    const Dtype dtype = *dtype_from_number(number);
    for (CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllToAll})
      cases.push_back({line, {0}, kind, ReduceOp::kSum, dtype, 12});
    cases.push_back({square, {0, 1}, CollectiveKind::kPermute, ReduceOp::kSum, dtype, 12});
    for (ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProduct}) {
      if (!runtime::reduce_function(op, dtype).ok()) continue;
      cases.push_back({line, {0}, CollectiveKind::kReduceScatter, op, dtype, 4 * 37});
      for (int64_t count : {37, 5000})  // these fit in one round and in two
        cases.push_back({line, {0}, CollectiveKind::kAllReduce, op, dtype, count});
    }
  }
  return cases;
}

// A program with only this collective: rank r reads row r of "x" and writes row r of "y".
inline std::shared_ptr<const Plan> plan_of(const CollectiveCase& c) {
  testing::ProgramBuilder b(c.mesh);
  const Mesh mesh = b.mesh();
  const int64_t ranks = mesh.num_ranks();
  const auto n = static_cast<int64_t>(runtime::group_ranks(mesh, c.axes, 0)->size());
  Layout rows;
  for (int d = 0; d < mesh.rank(); ++d) rows[d] = Placement::shard(0);
  const int64_t result = c.kind == CollectiveKind::kAllGather       ? c.count * n
                         : c.kind == CollectiveKind::kReduceScatter ? c.count / n
                                                                    : c.count;
  const ValueId x = b.input("x", c.dtype, {ranks, c.count}, rows);
  b.output("y", b.collective(c.kind, c.axes, x, {1, result}, c.op), {ranks, result}, rows);
  return b.finish();
}

// Numbers of one sign that span a few orders of magnitude: sums depend on their order, and none
// overflows.
inline runtime::HostTensor input_of(const CollectiveCase& c, uint32_t seed) {
  int64_t ranks = 1;
  for (const Mesh::Axis& a : c.mesh) ranks *= a.size;
  runtime::HostTensor x;
  x.type = row_major(c.dtype, {ranks, c.count});
  x.data.resize(static_cast<size_t>(x.type.bytes()));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(0.01, 9);
  const int64_t elements = ranks * c.count;
  for (int64_t i = 0; i < elements; ++i) {
    if (c.dtype != Dtype::kC64) {
      testing::set(x.data.data(), c.dtype, i, real(random));
      continue;
    }
    testing::set(x.data.data(), Dtype::kF32, 2 * i, real(random));
    testing::set(x.data.data(), Dtype::kF32, 2 * i + 1, real(random));
  }
  return x;
}

// Three chains of collectives, each in its own groups. Nothing orders one chain relative to
// another, so ranks may issue them in different orders.
inline std::shared_ptr<const Plan> plan_of_groups_side_by_side(const CollectiveCase& c) {
  testing::ProgramBuilder b(c.mesh);
  Layout rows;
  for (int d = 0; d < b.mesh().rank(); ++d) rows[d] = Placement::shard(0);
  const int64_t ranks = b.mesh().num_ranks();
  const ValueId x = b.input("x", c.dtype, {ranks, c.count}, rows);
  std::vector<ValueId> ends;
  for (const auto& axes : {std::vector<uint8_t>{0}, {1}, {0, 1}}) {
    ValueId y = x;
    for (int i = 0; i < 16; ++i) y = b.collective(c.kind, axes, y, {1, c.count}, c.op);
    ends.push_back(y);
  }
  for (size_t i = 0; i < ends.size(); ++i)
    b.output("y" + std::to_string(i), ends[i], {ranks, c.count}, rows);
  return b.finish();
}

// Runs a plan with whole tensors. The result is empty on ranks that do not have the outputs.
using RunPlan = std::function<Result<std::vector<runtime::HostTensor>>(
    std::shared_ptr<const Plan>, const std::vector<runtime::HostTensorView>&)>;

// Returns INTERNAL if the results differ. `compares`: this rank has the outputs.
inline Status check_plan(const CollectiveCase& c, const std::shared_ptr<const Plan>& plan,
                         bool compares, const RunPlan& run) {
  const runtime::HostTensor x = input_of(c, static_cast<uint32_t>(c.count + 1));
  const std::vector<runtime::HostTensorView> in{{x.type, x.data.data()}};
  SHW_ASSIGN_OR_RETURN(const auto got, run(plan, in));
  if (!compares) return {};
  SHW_ASSIGN_OR_RETURN(const auto job, runtime::VirtualRanks::create(plan));
  SHW_ASSIGN_OR_RETURN(const auto want, job->run("step", in));
  const auto same = [](const auto& a, const auto& b) { return a.data == b.data; };
  if (!std::ranges::equal(got, want, same))
    return internal_error(to_string(c) + ": not the bits of virtual ranks");
  return {};
}
inline Status check_collective(const CollectiveCase& c, bool compares, const RunPlan& run) {
  return check_plan(c, plan_of(c), compares, run);
}
inline Status check_groups_side_by_side(bool compares, const RunPlan& run) {
  const CollectiveCase c{{{"a", 2}, {"b", 2}}, {},          CollectiveKind::kAllReduce,
                         ReduceOp::kAvg,       Dtype::kF32, 2049};
  return check_plan(c, plan_of_groups_side_by_side(c), compares, run);
}

}  // namespace shw::cts
