// Ops that work along one dim, attribute `dim`, and treat all positions in the other dims alike:
// softmax, running sums, sort.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The dim of operand 0. INVALID_ARGUMENT: out of range.
Result<size_t> along(const OpArgs& args, int64_t otherwise = -1);
// Every other dim may be sharded, in all operands and results alike.
void along_dim_rules(const OpArgs& args, size_t along, RuleSet& rules);

// Shared by cumsum and cumprod: integers and booleans run as i64.
inline constexpr Param kRunning[] = {{"self", ParamKind::kTensor},
                                     {"dim", ParamKind::kInt, kRequired},
                                     {"dtype", ParamKind::kDtype}};
Results infer_running(const OpArgs& args);

// Shared by the softmax family.
void softmax_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
Results infer_softmax(const OpArgs& args);           // attribute half_to_float: f16 and bf16 to f32
Results infer_softmax_backward(const OpArgs& args);  // attribute input_dtype

// Values and their indices, for sort, topk, max and min. `count`: how many along the dim.
Results values_and_indices(const OpArgs& args, size_t along, int64_t count);

}  // namespace shw::ops
