// At least one case for every op. The shapes are the smallest that the meshes of
// every_strategy_test.cc allow.
#include "op_cases.h"

namespace shw::testing {
namespace {

void contraction(std::vector<OpCase>& list) {
  list.push_back({"mm", OpKind::kMm, {f32({8, 16}), f32({16, 8})}, {}});
  list.push_back({"mm bf16", OpKind::kMm, {bf16({8, 16}), bf16({16, 8})}, {}, 1e-2});
  list.push_back({"einsum forward",
                  OpKind::kEinsum,
                  {f32({8, 4, 16}), f32({16, 8})},
                  attrs({{AttrKey::kEquation, text("abk,kn->abn")}})});
  list.push_back({"einsum weight gradient",
                  OpKind::kEinsum,
                  {f32({8, 4, 16}), f32({8, 4, 8})},
                  attrs({{AttrKey::kEquation, text("abn,abk->kn")}})});
  list.push_back({"einsum three batch dims",
                  OpKind::kEinsum,
                  {f32({4, 2, 4, 8}), f32({8, 4})},
                  attrs({{AttrKey::kEquation, text("abck,kn->abcn")}})});
  list.push_back({"einsum batched",
                  OpKind::kEinsum,
                  {f32({4, 8, 16}), f32({4, 16, 8})},
                  attrs({{AttrKey::kEquation, text("bmk,bkn->bmn")}})});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> list;
  contraction(list);
  product_cases(list);
  pointwise_cases(list);
  movement_cases(list);
  reduction_cases(list);
  line_cases(list);
  lookup_cases(list);
  making_cases(list);
  float8_cases(list);
  return list;
}

}  // namespace shw::testing
