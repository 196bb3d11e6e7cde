// The parameters of an operation as its users see them: operands first, then attributes, each in
// the order of OpDef::params; arguments that change nothing are left out.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace shw {

std::vector<Param> visible_params(OpKind op);

// "clamp(self, min: number, max: number)"; an attribute may be absent unless the operation needs
// it.
std::string signature(OpKind op);

}  // namespace shw
