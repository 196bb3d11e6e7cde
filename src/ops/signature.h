// The parameters of an operation as shown to users: operands first, then attributes, each in the
// order of OpDef::params. Arguments that change nothing are omitted.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace shw {

// Whether a parameter of this kind stands among a node's operands: one or several, or none.
bool is_operand(ParamKind kind);
bool is_operand_list(ParamKind kind);

std::vector<Param> visible_params(OpKind op);

// One parameter as in signature(): "dims: ints = []".
std::string text_of(const Param& param);

// "; it has: dims, keepdim": for messages about attributes that an operation does not have.
std::string known_attributes(OpKind op);

// NOT_FOUND; the message says what to use instead, or lists similar names.
Status unknown_op(std::string_view name);

// "slice(self, dim: int = 0, start: int = 0, end: int?, step: int = 1)": an attribute with = has
// that default; one with ? may be absent, which no value can express; every other one must be
// given.
std::string signature(OpKind op);

}  // namespace shw
