#include "import/onnx/table.h"

#include <algorithm>

namespace shw::import::onnx {
namespace {

using Group = std::span<const Mapper> (*)();
constexpr Group kGroups[] = {
    activation_mappers, arithmetic_mappers,   convolution_mappers, lookup_mappers,
    loss_mappers,       making_mappers,       movement_mappers,    norm_mappers,
    pool_mappers,       product_mappers,      quantize_mappers,    reduction_mappers,
    shape_mappers,      trigonometry_mappers, truth_mappers,
};

}  // namespace

const Mapper* find_mapper(std::string_view domain, std::string_view name, int64_t opset) {
  for (const Group group : kGroups)
    for (const Mapper& m : group())
      if (m.name == name && m.domain == domain && m.since <= opset && opset <= m.until) return &m;
  return nullptr;
}

std::string known_opsets(std::string_view name) {
  int64_t first = 0, last = 0;
  for (const Group group : kGroups)
    for (const Mapper& m : group())
      if (m.name == name && m.domain.empty()) {
        first = first == 0 ? m.since : std::min(first, m.since);
        last = std::max(last, m.until);
      }
  return first == 0 ? "" : std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace shw::import::onnx
