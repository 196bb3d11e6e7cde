// The price of a collective as the minimum over several terms, one for each way to run it.
//
//   µs(bytes) = latency · (bytes ≥ plateau_bytes ? 1.4 : 1)  +  bytes · us_per_byte / ramp(bytes)
//
// All models of this folder are converted to this form once the mesh is known. The hundred thousand
// queries of a solve are then arithmetic on a few adjacent numbers.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace shw::cost {

enum class Collective : uint8_t {
  kAllGather = 0,
  kReduceScatter = 1,
  kAllReduce = 2,
  kAllToAll = 3,
  kPermute = 4,  // every rank sends its tensor to one rank
};
inline constexpr size_t kNumCollectives = 5;

enum class PriceRules : uint8_t {
  kCompat,  // exactly the reference planner's
  kFull  // P(x) → P(y) with x ≠ y is forbidden, where the reference planner treats it as free;
         // NCCL's model prices parts of a node too
};

// The basis of a price.
enum class Basis : uint8_t {
  kMeasured = 1,      // measurements of groups of exactly this shape
  kInterpolated = 2,  // measurements of groups of other shapes
  kAnalytical = 3,    // a formula and the figures of the hardware
  kFallback = 4,      // a simpler formula, where the proper one does not apply
};

// The ranks of one collective and their distribution over nodes (machines with a fast
// interconnect).
struct GroupTopology {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranks_per_node = 1;
  bool operator==(const GroupTopology&) const = default;
};

// Efficiency by size: entry i < 24 applies at 64 · 2^i bytes, entry 24 to all larger sizes.
inline constexpr int kRampSizes = 24;
using Ramp = std::array<double, kRampSizes + 1>;

enum class RampKind : uint8_t {
  kNone,
  kStepByMessage,     // entry floor(log2(bytes / 64))
  kStepByRank,        // the same for bytes per rank
  kInterpolateByRank  // by bytes per rank; linear in log2 between entries 0 and 23
};

struct PriceTerm {
  double latency_us = 0;
  double us_per_byte = 0;
  int64_t plateau_bytes = std::numeric_limits<int64_t>::max();
  RampKind ramp_kind = RampKind::kNone;
  uint32_t ramp = 0;  // index into the ramps, unless kNone
  bool operator==(const PriceTerm&) const = default;
};

// The terms and ramps of all collectives; the models fill them.
struct PriceTerms {
  std::vector<PriceTerm> terms;
  std::vector<Ramp> ramps;
  uint32_t add_ramp(const Ramp& ramp);  // equal ramps share an entry
};

}  // namespace shw::cost
