// Fits lifetimes into an arena of a given size. It starts from offsets at which some lifetimes end
// above that size.
//
// Those lifetimes are taken out. Then one unplaced lifetime after another goes into the lowest gap
// that is large enough. If there is none, it goes where it ejects lifetimes of the lowest total
// cost; these become unplaced, and are placed next. A lifetime that was hard to place costs more to
// eject from then on, so that the search does not cycle. (Guided ejection search, of Nagata and
// Bräysy 2009 for vehicles.)
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// The cost of ejecting a lifetime: its steps times its bytes, or the square root of that.
enum class EjectionCost : uint8_t { kArea, kRootOfArea };

// Every lifetime must have at least one step and one byte. Returns true if all fit, and then sets
// `offsets`; otherwise leaves `offsets` unchanged. Subtracts the number of comparisons from
// `max_tests`; ends when none are left, or at Monitor::improve_until. Random numbers are the same
// on all machines.
Result<bool> eject_lives(std::span<const Life> lives, int64_t arena_bytes, EjectionCost cost,
                         uint32_t seed, int64_t& max_tests, std::vector<int64_t>& offsets,
                         Monitor& monitor);

}  // namespace shw
