// Fits lifetimes into an arena of a given size, from offsets of which some end above it.
//
// What ends above is taken out. Of what is out, one lifetime after another is put into the lowest
// gap that is large enough. Where there is none, it is put where that ejects the least, which is
// out then, and comes next. To eject one that was hard to put costs more from then on, so the
// search does not go round in circles. (Guided ejection search, of Nagata and Bräysy 2009 for
// vehicles.)
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "passes/lifetimes.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw {

// What it costs to eject a lifetime: its steps times its bytes, or the root of that.
enum class EjectionCost : uint8_t { kArea, kRootOfArea };

// All lifetimes have steps and bytes. True: all fit, and `offsets` say where; otherwise these stay
// as they are. Takes off what it compares from `max_tests`, and ends when nothing is left of them,
// or with Monitor::improve_until. Random numbers are the same on all machines.
Result<bool> eject_lives(std::span<const Life> lives, int64_t arena_bytes, EjectionCost cost,
                         uint32_t seed, int64_t& max_tests, std::vector<int64_t>& offsets,
                         Monitor& monitor);

}  // namespace shw
