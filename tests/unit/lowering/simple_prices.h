// Simple prices of moves for tests: a latency and the bytes sent.
#pragma once
#include <cstdint>

#include "redistribution/move_prices.h"

namespace shw::testing {

// A combined group has the same latency as a single mesh dim.
inline MovePrices simple_prices() {
  return {[](CollectiveKind kind, uint32_t, int64_t bytes) {
            return 10 +
                   0.01 * static_cast<double>(bytes) * (kind == CollectiveKind::kAllReduce ? 2 : 1);
          },
          [](int64_t bytes) { return 1 + 0.001 * static_cast<double>(bytes); }};
}

}  // namespace shw::testing
