#include "lowering/prices.h"

#include "cost/roofline.h"

namespace shw {

MovePrices move_prices(const cost::CollectiveModel& model) {
  static_assert(static_cast<int>(CollectiveKind::kAllGather) - 1 ==
                    static_cast<int>(cost::Collective::kAllGather) &&
                static_cast<int>(CollectiveKind::kReduceScatter) - 1 ==
                    static_cast<int>(cost::Collective::kReduceScatter) &&
                static_cast<int>(CollectiveKind::kAllReduce) - 1 ==
                    static_cast<int>(cost::Collective::kAllReduce) &&
                static_cast<int>(CollectiveKind::kAllToAll) - 1 ==
                    static_cast<int>(cost::Collective::kAllToAll));
  const cost::Roofline roofline(model.hardware().device);
  return {[&model](CollectiveKind kind, uint32_t mask, int64_t bytes) {
            return model.us_combined(static_cast<cost::Collective>(static_cast<int>(kind) - 1),
                                     mask, bytes);
          },
          [roofline](int64_t bytes) { return roofline.rw_us(2.0 * static_cast<double>(bytes)); }};
}

}  // namespace shw
