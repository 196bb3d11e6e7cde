// Which values of the forward pass the backward pass computes again.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "support/status.h"

namespace shw {

struct RecomputePolicy {
  enum class Kind : uint8_t {
    kNone = 0,   // nothing, whatever the graph's tags say
    kCheap = 1,  // what costs little beside the memory that it frees; no products, no collectives
    kSelective = 2,  // in each block all but every second matrix product, attention and reductions
    kFull = 3,       // in each block all; what enters a block is kept
    kEvery = 4,      // as kFull in every n-th block, the first among them; as kCheap elsewhere
    kAuto = 5,       // what a memory limit asks for, block by block; without one nothing
  };
  Kind kind = Kind::kNone;
  uint32_t every = 1;  // kEvery: n
  // Parameters stay gathered from the forward to the backward pass; else they are gathered again.
  // What follows a gather, such as a slice, is repeated or kept, whatever holds fewer bytes.
  bool keep_gathered = false;
  // In each block the first sum with what enters it is kept: of a transformer the tokens behind
  // attention. Then the feed-forward half repeats nothing of attention.
  bool keep_first_add = false;
  bool operator==(const RecomputePolicy&) const = default;
};

// "none", "auto", "cheap", "selective", "full", "every:2"; all but the first two also with
// "+first-add" behind, "+gathered", or both in either order.
// INVALID_ARGUMENT: another text.
Result<RecomputePolicy> recompute_policy(std::string_view text);
std::string to_string(
    const RecomputePolicy& policy);  // the same texts; "+first-add" before "+gathered"

}  // namespace shw
