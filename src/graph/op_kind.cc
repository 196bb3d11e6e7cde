#include "graph/op_kind.h"

#include <algorithm>
#include <array>

namespace shw {
namespace {
constexpr std::array<std::string_view, static_cast<size_t>(OpKind::kCount)> kNames = {
#define X(id, name) name,
    SHW_OP_KINDS(X)
#undef X
};
}  // namespace

std::string_view op_name(OpKind op) { return kNames[static_cast<size_t>(op)]; }

std::optional<OpKind> op_from_name(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<OpKind>(it - kNames.begin());
}

}  // namespace shw
