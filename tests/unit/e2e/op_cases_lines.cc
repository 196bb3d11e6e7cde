// Ops along one dim: softmax, running sums, sorting.
#include "op_cases.h"

namespace shw::testing {

void line_cases(std::vector<OpCase>& list) {
  const auto along = [](int64_t dim) { return attrs({{AttrKey::kDim, dim}}); };
  for (const auto& [name, op, backward] :
       {std::tuple("softmax", OpKind::kSoftmax, OpKind::kSoftmaxBackward),
        std::tuple("log_softmax", OpKind::kLogSoftmax, OpKind::kLogSoftmaxBackward)}) {
    list.push_back({name, op, {f32({8, 4, 16})}, along(-1)});
    list.push_back({std::string(name) + " of a first dim", op, {f32({8, 16})}, along(0)});
    list.push_back({std::string(name) + " backward",
                    backward,
                    {f32({8, 4, 16}), f32({8, 4, 16}, -1, 1)},
                    along(1)});
  }
  list.push_back({"cumprod", OpKind::kCumprod, {f32({8, 4, 8}, 0.5, 1.5)}, along(2)});
  list.push_back({"sort", OpKind::kSort, {f32({8, 16, 4})}, along(1), kBits});
  list.push_back({"sort descending",
                  OpKind::kSort,
                  {index({8, 16}, 7)},
                  attrs({{AttrKey::kDim, int64_t{-1}}, {AttrKey::kDescending, true}}),
                  kBits});
  list.push_back({"topk",
                  OpKind::kTopk,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kK, int64_t{4}}, {AttrKey::kDim, int64_t{-1}}}),
                  kBits});
  list.push_back(
      {"topk smallest",
       OpKind::kTopk,
       {f32({8, 16})},
       attrs({{AttrKey::kK, int64_t{2}}, {AttrKey::kDim, int64_t{0}}, {AttrKey::kLargest, false}}),
       kBits});
}

}  // namespace shw::testing
