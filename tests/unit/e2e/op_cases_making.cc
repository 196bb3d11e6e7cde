// Ops that create tensors from nothing or from a shape.
#include "op_cases.h"

namespace shw::testing {
namespace {

void making(std::vector<OpCase>& list) {
  const auto size = ints({8, 16});
  list.push_back({"full",
                  OpKind::kFull,
                  {},
                  attrs({{AttrKey::kSize, size}, {AttrKey::kFillValue, 1.5}}),
                  kBits});
  list.push_back({"full of zeros",
                  OpKind::kFull,
                  {},
                  attrs({{AttrKey::kSize, size}, {AttrKey::kFillValue, 0.0}}),
                  kBits});
  list.push_back({"rand", OpKind::kRand, {}, attrs({{AttrKey::kSize, size}}), kBits});
  list.push_back({"iota",
                  OpKind::kIota,
                  {},
                  attrs({{AttrKey::kLength, int64_t{16}}, {AttrKey::kStart, int64_t{3}}}),
                  kBits});
  list.push_back(
      {"scalar_tensor", OpKind::kScalarTensor, {}, attrs({{AttrKey::kFillValue, 2.5}}), kBits});
}

void likes(std::vector<OpCase>& list) {
  list.push_back(
      {"full_like", OpKind::kFullLike, {f32({8, 16})}, attrs({{AttrKey::kFillValue, 2.5}}), kBits});
  list.push_back({"full_like of zeros",
                  OpKind::kFullLike,
                  {f32({8, 16})},
                  attrs({{AttrKey::kFillValue, int64_t{0}}}),
                  kBits});
  list.push_back({"new_full of the same shape",
                  OpKind::kNewFull,
                  {f32({8, 16})},
                  attrs({{AttrKey::kSize, ints({8, 16})}, {AttrKey::kFillValue, int64_t{3}}}),
                  kBits});
  list.push_back({"new_full of another shape",
                  OpKind::kNewFull,
                  {f32({8, 16})},
                  attrs({{AttrKey::kSize, ints({4})}, {AttrKey::kFillValue, 0.5}}),
                  kBits});
  list.push_back({"new_full of zeros",
                  OpKind::kNewFull,
                  {f32({8, 16})},
                  attrs({{AttrKey::kSize, ints({8})}, {AttrKey::kFillValue, 0.0}}),
                  kBits});
}

// Every sharding must draw the same random numbers.
void random(std::vector<OpCase>& list) {
  list.push_back({"randn", OpKind::kRandn, {}, attrs({{AttrKey::kSize, ints({8, 16})}}), kBits});
  list.push_back({"rand_like", OpKind::kRandLike, {f32({8, 16})}, {}, kBits});
  list.push_back({"randn_like",
                  OpKind::kRandnLike,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kBF16}}),
                  kBits});
  list.push_back(
      {"native_dropout", OpKind::kDropout, {f32({8, 4, 16})}, attrs({{AttrKey::kP, 0.25}}), kBits});
  list.push_back({"native_dropout that keeps all",
                  OpKind::kDropout,
                  {f32({8, 16})},
                  attrs({{AttrKey::kP, 0.5}, {AttrKey::kTrain, false}}),
                  kBits});
  list.push_back({"rand by the seed of the run",
                  OpKind::kRand,
                  {index({2}, 1000)},
                  attrs({{AttrKey::kSize, ints({8, 16})}}),
                  kBits});
  list.push_back({"randn by the seed of the run",
                  OpKind::kRandn,
                  {index({2}, 1000)},
                  attrs({{AttrKey::kSize, ints({8, 16})}}),
                  kBits});
  list.push_back({"rand_like by the seed of the run",
                  OpKind::kRandLike,
                  {f32({8, 2}), index({2}, 1000)},
                  {},
                  kBits});
  list.push_back({"randn_like by the seed of the run",
                  OpKind::kRandnLike,
                  {f32({8, 16}), index({2}, 1000)},
                  {},
                  kBits});
  list.push_back({"native_dropout by the seed of the run",
                  OpKind::kDropout,
                  {f32({8, 4, 2}), index({2}, 1000)},
                  attrs({{AttrKey::kP, 0.25}}),
                  kBits});
  list.push_back({"native_dropout_backward",
                  OpKind::kDropoutBackward,
                  {f32({8, 16}), truth({8, 16})},
                  attrs({{AttrKey::kScale, 1.25}})});
}

}  // namespace

void making_cases(std::vector<OpCase>& list) {
  making(list);
  likes(list);
  random(list);
}

}  // namespace shw::testing
