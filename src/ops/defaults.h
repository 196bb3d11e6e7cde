// Attributes that have their default value, and thus may be omitted.
#pragma once
#include "ops/op_def.h"

namespace shw {

// The default value of an attribute; nullopt: it has none (Param::otherwise).
std::optional<AttrValue> default_of(const Param& param);

// Omits every attribute that has its default, so that a graph with explicit defaults and one
// without them become the same program.
Attrs without_defaults(OpKind op, const Attrs& attrs);

}  // namespace shw
