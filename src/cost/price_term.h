// A price of a collective as a list of terms, one for each way to run it; the cheapest counts.
//
//   µs(bytes) = latency · (bytes ≥ plateau_bytes ? 1.4 : 1)  +  bytes · us_per_byte / ramp(bytes)
//
// Every model of this folder is brought into this form once, when a mesh is known. What remains for
// the solver's hundred thousand questions is arithmetic on a few numbers that lie in a row.
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
  kAllToAll = 3
};

// The ranks of one collective, and how they lie on the nodes (machines that share a fast fabric).
struct GroupTopology {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranks_per_node = 1;
  bool operator==(const GroupTopology&) const = default;
};

// Efficiency by size: entry i < 24 stands at 64 · 2^i bytes, entry 24 for all larger sizes.
inline constexpr int kRampSizes = 24;
using Ramp = std::array<double, kRampSizes + 1>;

enum class RampKind : uint8_t {
  kNone,
  kStepByMessage,     // entry floor(log2(bytes / 64))
  kStepByRank,        // the same, of bytes per rank
  kInterpolateByRank  // of bytes per rank; linear in log2 between entries 0 to 23
};

struct PriceTerm {
  double latency_us = 0;
  double us_per_byte = 0;
  int64_t plateau_bytes = std::numeric_limits<int64_t>::max();
  RampKind ramp_kind = RampKind::kNone;
  uint32_t ramp = 0;  // index into the ramps, unless kNone
  bool operator==(const PriceTerm&) const = default;
};

// What the models fill.
struct PriceTerms {
  std::vector<PriceTerm> terms;
  std::vector<Ramp> ramps;
  uint32_t add_ramp(const Ramp& ramp);  // equal ramps share an entry
};

}  // namespace shw::cost
