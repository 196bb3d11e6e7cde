// Attributes that say what their absence says.
#pragma once
#include "ops/op_def.h"

namespace shw {

// The value of an attribute where it is absent; nullopt: it has none (Param::otherwise).
std::optional<AttrValue> default_of(const Param& param);

// Leaves out every attribute that has its default, so that a graph which writes defaults out and
// one which leaves them out become the same program.
Attrs without_defaults(OpKind op, const Attrs& attrs);

}  // namespace shw
