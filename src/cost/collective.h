// Prices collectives on one mesh of one machine.
//
// create() reduces everything that depends on the mesh to a few numbers per group of mesh dims.
// us() then takes tens of nanoseconds, allocates nothing and is thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "cost/hardware.h"
#include "cost/price_term.h"
#include "sharding/layout.h"
#include "support/status.h"

namespace shw::cost {

class CollectiveModel {
 public:
  // Uses NCCL's model if the hardware has one and the mesh fills whole nodes, otherwise the default
  // model. kFull also uses NCCL's model if the mesh is part of one node, since NCCL's formulas hold
  // there as well. INVALID_ARGUMENT: a parameter is not positive.
  static Result<CollectiveModel> create(const Hardware& hardware, const Mesh& mesh,
                                        PriceRules rules = PriceRules::kCompat);

  // Ranks are placed row-major: rank r is on node r / gpus_per_node.
  GroupTopology topology(int mesh_dim) const { return topology_of(1u << mesh_dim); }
  // The combined group over several mesh dims or parts of them. The mask has a bit for each axis
  // number (Mesh), and at least one bit set.
  GroupTopology topology_of(uint32_t axes_mask) const { return group(axes_mask).topology; }

  // `bytes`: per rank; for an all-gather after it, for a reduce-scatter before it. A group of one
  // rank costs nothing.
  double us(Collective collective, int mesh_dim, int64_t bytes) const {
    return us_combined(collective, 1u << mesh_dim, bytes);
  }
  double us_combined(Collective collective, uint32_t axes_mask, int64_t bytes) const;
  // The basis of that price. It does not depend on the size.
  Basis basis(Collective collective, uint32_t axes_mask) const {
    return group(axes_mask).basis[static_cast<size_t>(collective)];
  }
  // Whether both groups have the same price for every collective.
  bool cost_the_same(uint32_t mask_a, uint32_t mask_b) const;

  const Mesh& mesh() const { return mesh_; }
  const Hardware& hardware() const { return hardware_; }
  bool uses_nccl_model() const { return uses_nccl_; }

 private:
  struct TermRange {
    uint32_t first = 0, count = 0;
    bool has_ramps = false;
  };
  struct Group {
    GroupTopology topology;
    std::array<TermRange, kNumCollectives> terms;  // by Collective
    std::array<Basis, kNumCollectives> basis{};
  };

  CollectiveModel(Hardware hardware, Mesh mesh, bool uses_nccl);
  std::vector<Group> groups_of(const Mesh& mesh);
  GroupTopology derive_topology(const Mesh& mesh, uint32_t mask) const;
  double waiting_for_cores(int64_t group_ranks) const;
  TermRange add_terms(Collective collective, const Mesh& mesh, uint32_t mask,
                      const GroupTopology& group);
  Basis basis_of(Collective collective, const GroupTopology& group) const;

  Hardware hardware_;
  Mesh mesh_;
  bool uses_nccl_;
  PriceTerms prices_;
  const Group& group(uint32_t axes_mask) const {
    return axes_mask < groups_.size() ? groups_[axes_mask]
                                      : groups_by_parts_[mesh_.mask_by_parts(axes_mask)];
  }
  std::vector<Group> groups_;           // by mask; entry 0 is unused
  std::vector<Group> groups_by_parts_;  // the same of Mesh::by_parts(), if it has any
};

}  // namespace shw::cost
