// Which values of the forward pass the backward pass computes again.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "support/status.h"

namespace shw {

struct RecomputePolicy {
  enum class Kind : uint8_t {
    kNone = 0,       // repeat nothing, whatever the graph's tags say
    kCheap = 1,      // steps that cost little for the memory they free; no products or collectives
    kSelective = 2,  // each block, except every second matrix product, attention, reductions
    kFull = 3,       // all of each block; only the inputs of blocks are kept
    kEvery = 4,      // as kFull in every n-th block, starting with the first; as kCheap elsewhere
    kAuto = 5,       // as much as a memory limit requires, block by block; without a limit nothing
  };
  Kind kind = Kind::kNone;
  uint32_t every = 1;  // kEvery: n
  // Gathered parameters are kept from the forward to the backward pass; otherwise they are gathered
  // again. Steps that follow a gather, such as a slice, are repeated or kept, whichever holds fewer
  // bytes.
  bool keep_gathered = false;
  // In each block the first sum with the block's input is kept: in a transformer, the residual
  // stream after attention. Then the feed-forward half repeats nothing of attention.
  bool keep_first_add = false;
  bool operator==(const RecomputePolicy&) const = default;
};

// "none", "auto", "cheap", "selective", "full", "every:2"; all but the first two may be followed by
// "+first-add", "+gathered", or both in either order. INVALID_ARGUMENT: another text.
Result<RecomputePolicy> recompute_policy(std::string_view text);
std::string to_string(
    const RecomputePolicy& policy);  // the same texts; "+first-add" before "+gathered"

}  // namespace shw
