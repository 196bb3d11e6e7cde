// Reductions and norms.
#include "op_cases.h"

namespace shw::testing {
namespace {

void reduction(std::vector<OpCase>& list) {
  list.push_back({"sum kept",
                  OpKind::kSum,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({2})}, {AttrKey::kKeepDim, true}})});
  list.push_back(
      {"sum of two", OpKind::kSum, {f32({8, 4, 16})}, attrs({{AttrKey::kDims, ints({0, 1})}})});
  list.push_back({"sum of all", OpKind::kSum, {f32({8, 16})}, {}});
  list.push_back(
      {"sum bf16", OpKind::kSum, {bf16({8, 16})}, attrs({{AttrKey::kDims, ints({0})}}), 2e-2});
  list.push_back({"mean",
                  OpKind::kMean,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({-1})}, {AttrKey::kKeepDim, true}})});
}

void norm(std::vector<OpCase>& list) {
  const auto over = [](std::vector<int64_t> shape) {
    return attrs({{AttrKey::kNormalizedShape, std::move(shape)}, {AttrKey::kEps, 1e-5}});
  };
  const auto gradients = [](std::vector<int64_t> shape, std::vector<int64_t> mask) {
    return attrs(
        {{AttrKey::kNormalizedShape, std::move(shape)}, {AttrKey::kOutputMask, std::move(mask)}});
  };
  list.push_back(
      {"layer norm", OpKind::kLayerNorm, {f32({8, 4, 16}), f32({16}), f32({16})}, over({16})});
  list.push_back({"layer norm of two dims",
                  OpKind::kLayerNorm,
                  {f32({8, 4, 16}), absent(), absent()},
                  over({4, 16})});
  const std::vector<Operand> backward = {f32({8, 4, 16}), f32({8, 4, 16}), f32({8, 4, 1}),
                                         f32({8, 4, 1}),  f32({16}),       f32({16})};
  list.push_back(
      {"layer norm backward", OpKind::kLayerNormBackward, backward, gradients({16}, {1, 1, 1})});
  list.push_back({"layer norm backward masked", OpKind::kLayerNormBackward, backward,
                  gradients({16}, {0, 1, 0})});
}

void extremes(std::vector<OpCase>& list) {
  for (const auto& [name, op] :
       {std::pair("amax", OpKind::kAmax), std::pair("amin", OpKind::kAmin)}) {
    const std::string n = name;
    list.push_back({n,
                    op,
                    {f32({8, 4, 16})},
                    attrs({{AttrKey::kDims, ints({-1})}, {AttrKey::kKeepDim, true}}),
                    kBits});
    list.push_back({n + " of all integers", op, {i32({8, 16}, 100)}, {}, kBits});
    list.push_back(
        {n + " of truth", op, {truth({8, 16})}, attrs({{AttrKey::kDims, ints({0})}}), kBits});
  }
  for (const auto& [name, op] :
       {std::pair("max", OpKind::kMax), std::pair("min", OpKind::kMin),
        std::pair("argmax", OpKind::kArgmax), std::pair("argmin", OpKind::kArgmin)}) {
    list.push_back({name, op, {f32({8, 16, 4})}, attrs({{AttrKey::kDim, int64_t{1}}}), kBits});
    list.push_back({std::string(name) + " kept",
                    op,
                    {index({8, 16}, 5)},
                    attrs({{AttrKey::kDim, int64_t{0}}, {AttrKey::kKeepDim, true}}),
                    kBits});
  }
  list.push_back({"argmax of all", OpKind::kArgmax, {f32({8, 16})}, {}, kBits});
}

void other_reductions(std::vector<OpCase>& list) {
  list.push_back(
      {"prod", OpKind::kProd, {f32({8, 4, 8}, 0.5, 1.5)}, attrs({{AttrKey::kDims, ints({2})}})});
  for (const auto& [name, op] : {std::pair("any", OpKind::kAny), std::pair("all", OpKind::kAll)}) {
    list.push_back({name, op, {truth({8, 4, 2})}, attrs({{AttrKey::kDims, ints({2})}}), kBits});
    list.push_back({std::string(name) + " of reals",
                    op,
                    {f32({8, 4}, 0, 0.25)},
                    attrs({{AttrKey::kDims, ints({1})}, {AttrKey::kKeepDim, true}}),
                    kBits});
  }
  list.push_back({"var",
                  OpKind::kVar,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({1})}, {AttrKey::kCorrection, int64_t{0}}})});
}

void root_mean_square_norm(std::vector<OpCase>& list) {
  const AttrValue last = ints({16});
  list.push_back({"rms norm",
                  OpKind::kRmsNorm,
                  {f32({8, 4, 16}), f32({16})},
                  attrs({{AttrKey::kNormalizedShape, last}, {AttrKey::kEps, 1e-5}})});
  list.push_back({"rms norm without weight",
                  OpKind::kRmsNorm,
                  {f32({8, 4, 16}), absent()},
                  attrs({{AttrKey::kNormalizedShape, last}})});
  list.push_back(
      {"rms norm backward",
       OpKind::kRmsNormBackward,
       {f32({8, 4, 16}), f32({8, 4, 16}), f32({8, 4, 1}, 0.5, 1), f32({16})},
       attrs({{AttrKey::kNormalizedShape, last}, {AttrKey::kOutputMask, ints({1, 1})}})});
}

}  // namespace

void reduction_cases(std::vector<OpCase>& list) {
  reduction(list);
  norm(list);
  extremes(list);
  other_reductions(list);
  root_mean_square_norm(list);
}

}  // namespace shw::testing
