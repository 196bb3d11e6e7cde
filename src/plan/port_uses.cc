#include "plan/port_uses.h"

#include <algorithm>

namespace shw {

bool touches(const Program& p, std::span<const ValueId> values, PortRole role) {
  const StorageKind kind = is_input(role) ? StorageKind::kInput : StorageKind::kOutput;
  return std::ranges::any_of(values, [&](ValueId v) {
    if (!p.lies_in(v, kind)) return false;
    return p.ports[PortId{p.storages[p.values[v].storage].port}].role == role;
  });
}

}  // namespace shw
