// A manual region for every kind of world, whose body exchanges data in the region's groups and
// checks what it receives.
#pragma once
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "runtime/collective/members.h"
#include "runtime/host_kernel.h"
#include "runtime/step_kernels.h"
#include "sharding/mesh_groups.h"
#include "unit/runtime/program_builder.h"

namespace shw::cts {

// Where a body runs: its mesh, its rank and its groups.
struct BodyPlace {
  Mesh mesh;
  int64_t rank;
  std::vector<runtime::RegionGroup*> groups;
  std::vector<std::vector<uint8_t>> axes;  // the mesh dims of each group
};
using BodyFn = std::function<Status(const BodyPlace&)>;

// A plan with a region that has the given groups and maps x[ranks, 1] to y[ranks, 1]. Each rank has
// one row.
inline std::shared_ptr<const Plan> region_plan(const std::vector<Mesh::Axis>& mesh,
                                               const std::string& groups) {
  testing::ProgramBuilder b(mesh);
  Layout rows;
  for (int d = 0; d < b.mesh().rank(); ++d) rows[d] = Placement::shard(0);
  const int64_t ranks = b.mesh().num_ranks();
  Attrs attrs;
  attrs.set(AttrKey::kRegion, std::string("exchange"));
  attrs.set(AttrKey::kGroups, groups);
  const ValueId x = b.input("x", Dtype::kF32, {ranks, 1}, rows);
  const ValueId y = b.compute("local_map", {x}, row_major(Dtype::kF32, {1, 1}), attrs);
  b.output("y", y, {ranks, 1}, rows);
  return b.finish();
}

// Calls `body` and copies the rank's row.
class BodyKernel final : public runtime::HostKernel {
 public:
  BodyKernel(BodyFn body, BodyPlace place) : body_(std::move(body)), place_(std::move(place)) {}
  Status compute(void* const* buffers) override {
    *static_cast<float*>(buffers[1]) = *static_cast<const float*>(buffers[0]);
    return body_(place_);
  }

 private:
  const BodyFn body_;
  const BodyPlace place_;
};

inline runtime::RegionBody region_body(const BodyFn& body) {
  return {
      "exchange",
      [body](runtime::Device&,
             const runtime::RegionArgs& args) -> Result<std::unique_ptr<runtime::PreparedKernel>> {
        BodyPlace place{args.mesh, args.rank, {args.groups.begin(), args.groups.end()}, {}};
        SHW_ASSIGN_OR_RETURN(place.axes,
                             parse_groups(args.attrs.get_string(AttrKey::kGroups), args.mesh));
        return std::unique_ptr<runtime::PreparedKernel>(
            std::make_unique<BodyKernel>(body, std::move(place)));
      }};
}

// Checks the collectives of one group. `ranks` are the ranks of its members. What one member sends
// to another depends on both ranks.
class GroupChecks {
 public:
  GroupChecks(runtime::RegionGroup& group, std::vector<int64_t> ranks)
      : group_(group),
        ranks_(std::move(ranks)),
        n_(ranks_.size()),
        me_(static_cast<size_t>(group.member())) {}

  Status run(int64_t rank, int64_t count) {
    if (group_.size() != static_cast<int64_t>(n_) || ranks_[me_] != rank)
      return internal_error("another size of the group, or member");
    SHW_RETURN_IF_ERROR(all_to_all_v(count));
    SHW_RETURN_IF_ERROR(all_to_all(count));
    SHW_RETURN_IF_ERROR(all_gather(count));
    return reductions(count);
  }

 private:
  using Values = std::vector<int64_t>;
  int64_t sent(size_t from, size_t to, int64_t i) const {
    return (ranks_[from] * 31 + ranks_[to]) * 1000003 + i;
  }
  static Status compare(const char* what, const Values& got, const Values& want) {
    return got == want ? Status() : internal_error(std::string(what) + ": other values");
  }

  // Blocks of 0 to 3 times `scale` elements.
  Status all_to_all_v(int64_t scale) {
    const auto count = [&](size_t from, size_t to) {
      return static_cast<int64_t>((from * 5 + to * 3) % 4) * scale;
    };
    Values send, want, send_counts, receive_counts;
    for (size_t m = 0; m < n_; ++m) {
      send_counts.push_back(count(me_, m));
      receive_counts.push_back(count(m, me_));
      for (int64_t i = 0; i < count(me_, m); ++i) send.push_back(sent(me_, m, i));
      for (int64_t i = 0; i < count(m, me_); ++i) want.push_back(sent(m, me_, i));
    }
    Values got(want.size(), -1);
    SHW_RETURN_IF_ERROR(group_.all_to_all_v(send.data(), send_counts.data(), got.data(),
                                            receive_counts.data(), Dtype::kI64));
    return compare("all_to_all_v", got, want);
  }
  Status all_to_all(int64_t count) {
    Values send, want;
    for (size_t m = 0; m < n_; ++m)
      for (int64_t i = 0; i < count; ++i) {
        send.push_back(sent(me_, m, i));
        want.push_back(sent(m, me_, i));
      }
    Values got(want.size(), -1);
    SHW_RETURN_IF_ERROR(group_.all_to_all(send.data(), got.data(), count, Dtype::kI64));
    return compare("all_to_all", got, want);
  }
  Status all_gather(int64_t count) {
    Values send, want;
    for (int64_t i = 0; i < count; ++i) send.push_back(sent(me_, 0, i));
    for (size_t m = 0; m < n_; ++m)
      for (int64_t i = 0; i < count; ++i) want.push_back(sent(m, 0, i));
    Values got(want.size(), -1);
    SHW_RETURN_IF_ERROR(group_.all_gather(send.data(), got.data(), count, Dtype::kI64));
    return compare("all_gather", got, want);
  }
  // Sums the numbers of all members, by reduce-scatter and by in-place all-reduce.
  Status reductions(int64_t count) {
    Values send, sums(n_ * static_cast<size_t>(count));
    for (size_t m = 0; m < n_; ++m)
      for (size_t i = 0; i < sums.size(); ++i) {
        const int64_t value = ranks_[m] * 7 + static_cast<int64_t>(i);
        if (m == me_) send.push_back(value);
        sums[i] += value;
      }
    Values got(static_cast<size_t>(count), -1);
    SHW_RETURN_IF_ERROR(
        group_.reduce_scatter(send.data(), got.data(), count, Dtype::kI64, ReduceOp::kSum));
    const auto part = sums.begin() + static_cast<ptrdiff_t>(me_) * count;
    SHW_RETURN_IF_ERROR(compare("reduce_scatter", got, {part, part + count}));
    SHW_RETURN_IF_ERROR(group_.all_reduce(
        send.data(), send.data(), static_cast<int64_t>(send.size()), Dtype::kI64, ReduceOp::kSum));
    return compare("all_reduce", send, sums);
  }

  runtime::RegionGroup& group_;
  const std::vector<int64_t> ranks_;  // by member
  const size_t n_, me_;
};

// Runs every collective in every group, with empty, small and larger-than-one-message data.
inline Status exchange_everything(const BodyPlace& place) {
  for (int64_t count : {0, 1, 1023, 20011})
    for (size_t g = 0; g < place.groups.size(); ++g) {
      SHW_ASSIGN_OR_RETURN(auto ranks, runtime::group_ranks(place.mesh, place.axes[g], place.rank));
      SHW_RETURN_IF_ERROR(GroupChecks(*place.groups[g], std::move(ranks)).run(place.rank, count));
    }
  return {};
}

}  // namespace shw::cts
