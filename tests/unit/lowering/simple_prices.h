// Prices of moves for tests: latency and bytes on the wire.
#pragma once
#include <cstdint>

#include "redistribution/move_prices.h"

namespace shw::testing {

// A combined group has no more latency than a single one.
inline MovePrices simple_prices() {
  return {[](CollectiveKind kind, uint32_t, int64_t bytes) {
            return 10 +
                   0.01 * static_cast<double>(bytes) * (kind == CollectiveKind::kAllReduce ? 2 : 1);
          },
          [](int64_t bytes) { return 1 + 0.001 * static_cast<double>(bytes); }};
}

}  // namespace shw::testing
