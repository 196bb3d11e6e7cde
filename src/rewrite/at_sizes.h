// Evaluates types and attributes that depend on symbols, at given sizes of the symbols.
#pragma once
#include <cstdint>
#include <span>

#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/symbols.h"
#include "tensor/tensor_type.h"

namespace shw {

// `at_hints` with the sizes of `exprs`, and with the same order of dims in memory. `sizes`: one per
// symbol. INVALID_ARGUMENT: a size is negative or too large.
Result<TensorType> type_at(const TensorType& at_hints, const Exprs& exprs,
                           std::span<const int64_t> sizes, std::span<const Symbol> symbols);

// Sets the attribute to the value of its expressions. INVALID_ARGUMENT: the value is too large.
Status set_at(AttrKey key, const AttrExprs& value, std::span<const int64_t> sizes, Attrs& attrs);

}  // namespace shw
