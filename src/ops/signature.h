// The parameters of an operation as its users see them: operands first, then attributes, each in
// the order of OpDef::params; arguments that change nothing are left out.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace shw {

std::vector<Param> visible_params(OpKind op);

// As it stands in signature(): "dims: ints = []".
std::string text_of(const Param& param);

// "; it has: dims, keepdim": for messages about attributes that an operation does not have.
std::string known_attributes(OpKind op);

// NOT_FOUND, with what to use in its place, or names like it.
Status unknown_op(std::string_view name);

// "slice(self, dim: int = 0, start: int = 0, end: int?, step: int = 1)": an attribute with = has
// that value where it is absent; one with ? may be absent, and no value says the same; every other
// one must be given.
std::string signature(OpKind op);

}  // namespace shw
