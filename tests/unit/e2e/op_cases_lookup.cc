// Look-ups by integer tensors, attention, and losses.
#include "op_cases.h"

namespace shw::testing {
namespace {

void lookup_and_attention(std::vector<OpCase>& list) {
  list.push_back({"embedding", OpKind::kEmbedding, {f32({32, 8}), index({8, 4}, 32)}, {}, kBits});
  list.push_back(
      {"embedding_dense_backward",
       OpKind::kEmbeddingDenseBackward,
       {f32({8, 4, 8}), index({8, 4}, 32)},
       attrs({{AttrKey::kNumWeights, int64_t{32}}, {AttrKey::kPaddingIdx, int64_t{-1}}})});
  list.push_back(
      {"embedding_dense_backward with padding",
       OpKind::kEmbeddingDenseBackward,
       {f32({8, 4, 8}), index({8, 4}, 32)},
       attrs({{AttrKey::kNumWeights, int64_t{32}}, {AttrKey::kPaddingIdx, int64_t{21}}})});
  const Dims q{4, 8, 32, 8}, lse{4, 8, 32};
  const auto backward_attrs = [](bool is_causal) {
    return attrs({{AttrKey::kCausal, is_causal}, {AttrKey::kKernel, text("efficient")}});
  };
  const auto causal = [&](bool is_causal) {
    Attrs a = backward_attrs(is_causal);
    a.set(AttrKey::kComputeLse, true);
    return a;
  };
  list.push_back({"sdpa", OpKind::kSdpa, {f32(q), f32(q), f32(q), absent()}, causal(false)});
  list.push_back({"sdpa causal", OpKind::kSdpa, {f32(q), f32(q), f32(q), absent()}, causal(true)});
  list.push_back({"sdpa without log-sum-exp",  // one result has no elements
                  OpKind::kSdpa,
                  {f32(q), f32(q), f32(q), absent()},
                  {}});
  list.push_back({"sdpa with bias",
                  OpKind::kSdpa,
                  {f32(q), f32(q), f32(q), f32({4, 8, 32, 32})},
                  causal(false)});
  // The log-sum-exp is above every score, so the probabilities that are recomputed from it stay
  // below 1.
  const std::vector<Operand> backward = {f32(q),          f32(q),       f32(q),
                                         f32(q),          absent(),     f32(q),
                                         f32(lse, 8, 12), index({}, 1), index({}, 1)};
  list.push_back({"sdpa_backward", OpKind::kSdpaBackward, backward, backward_attrs(false)});
  list.push_back({"sdpa_backward causal", OpKind::kSdpaBackward, backward, backward_attrs(true)});
  // Two query heads share a key head. Strided shards are possible for batches only.
  const Dims many{8, 8, 32, 8}, shared{8, 4, 12, 8};
  list.push_back({"sdpa with shared key heads",
                  OpKind::kSdpa,
                  {f32(many), f32(shared), f32(shared), absent()},
                  causal(false)});
  list.push_back({"sdpa_backward with shared key heads",
                  OpKind::kSdpaBackward,
                  {f32(many), f32(many), f32(shared), f32(shared), absent(), f32(many),
                   f32({8, 8, 32}, 8, 12), index({}, 1), index({}, 1)},
                  backward_attrs(true)});
}

void sliding_windows(std::vector<OpCase>& list) {
  const Dims q{8, 4, 24, 8}, lse{8, 4, 24}, shared{8, 2, 36, 8};
  const Attrs a = attrs({{AttrKey::kCausal, true},
                         {AttrKey::kWindowLeft, int64_t{5}},
                         {AttrKey::kKernel, text("flash")}});
  list.push_back(
      {"sdpa of a sliding window", OpKind::kSdpa, {f32(q), f32(shared), f32(shared), absent()}, a});
  Attrs both_sides = a;
  both_sides.set(AttrKey::kCausal, false);
  both_sides.set(AttrKey::kWindowRight, int64_t{9});
  list.push_back({"sdpa_backward of a sliding window",
                  OpKind::kSdpaBackward,
                  {f32(q), f32(q), f32(shared), f32(shared), absent(), f32(q), f32(lse, 8, 12),
                   index({}, 1), index({}, 1)},
                  both_sides});
}

void pages(std::vector<OpCase>& list) {
  const Operand keys = f32({12, 4, 2, 8}), table = index({8, 3}, 12), lengths = index({8}, 13);
  for (int64_t queries : {1, 6})
    list.push_back({"sdpa_paged of " + std::to_string(queries),
                    OpKind::kSdpaPaged,
                    {f32({8, 4, queries, 8}), keys, keys, table, lengths},
                    attrs({{AttrKey::kCausal, true}, {AttrKey::kWindowLeft, int64_t{7}}})});
  const Operand whole = f32({12, 4, 4, 8});
  list.push_back({"sdpa_paged of a key head for each head",
                  OpKind::kSdpaPaged,
                  {f32({8, 4, 3, 8}), whole, whole, table, lengths},
                  {}});
}

void packed_documents(std::vector<OpCase>& list) {
  const Dims q{8, 4, 24, 8}, lse{8, 4, 24}, shared{8, 2, 24, 8};
  const Operand ends = documents(8, 3, 24);
  for (bool causal : {false, true}) {
    const std::string suffix = causal ? " causal" : "";
    const Attrs a = attrs({{AttrKey::kCausal, causal}, {AttrKey::kKernel, text("flash")}});
    list.push_back({"sdpa of documents" + suffix,
                    OpKind::kSdpa,
                    {f32(q), f32(shared), f32(shared), absent(), ends},
                    a});
    list.push_back({"sdpa_backward of documents" + suffix,
                    OpKind::kSdpaBackward,
                    {f32(q), f32(q), f32(shared), f32(shared), absent(), f32(q), f32(lse, 8, 12),
                     index({}, 1), index({}, 1), ends},
                    a});
  }
}

void dropped_weights(std::vector<OpCase>& list) {
  const Dims q{8, 4, 24, 8}, lse{8, 4, 24}, shared{8, 2, 36, 8};
  const Attrs a = attrs(
      {{AttrKey::kCausal, true}, {AttrKey::kDropoutP, 0.25}, {AttrKey::kKernel, text("flash")}});
  list.push_back(
      {"sdpa with dropout", OpKind::kSdpa, {f32(q), f32(shared), f32(shared), absent()}, a});
  list.push_back({"sdpa with dropout by the seed of the run",
                  OpKind::kSdpa,
                  {f32(q), f32(q), f32(q), absent(), documents(8, 3, 24), index({2}, 1000)},
                  a});
  list.push_back({"sdpa_backward with dropout",
                  OpKind::kSdpaBackward,
                  {f32(q), f32(q), f32(shared), f32(shared), absent(), f32(q), f32(lse, 8, 12),
                   index({}, 1000), index({}, 1)},
                  a});
}

void along_a_dim(std::vector<OpCase>& list) {
  const auto along = [](int64_t dim) { return attrs({{AttrKey::kDim, dim}}); };
  list.push_back({"gather", OpKind::kGather, {f32({8, 16}), index({8, 1}, 16)}, along(1), kBits});
  list.push_back(
      {"gather several", OpKind::kGather, {f32({16, 8, 4}), i32({24, 8, 4}, 16)}, along(0), kBits});
  list.push_back(
      {"gather fewer", OpKind::kGather, {f32({8, 16}), index({4, 8}, 16)}, along(-1), kBits});
  list.push_back({"scatter a number",
                  OpKind::kScatter,
                  {f32({8, 16}), index({8, 1}, 16), absent()},
                  attrs({{AttrKey::kDim, int64_t{1}}, {AttrKey::kSrc, -1.0}}),
                  kBits});
  list.push_back({"scatter",
                  OpKind::kScatter,
                  {f32({8, 4, 16}), index({8, 4, 8}, 16), f32({8, 4, 8})},
                  along(2),
                  kBits});
  list.push_back({"scatter_add",
                  OpKind::kScatterAdd,
                  {f32({8, 16}), index({24, 16}, 8), f32({24, 16})},
                  along(0)});
  for (const char* how : {"amax", "amin", "prod"}) {
    Attrs a = along(0);
    a.set(AttrKey::kReduce, text(how));
    list.push_back({std::string("scatter_reduce ") + how,
                    OpKind::kScatterReduce,
                    {f32({8, 16}), index({24, 16}, 8), f32({24, 16})},
                    a});
  }
  list.push_back(
      {"index_select", OpKind::kIndexSelect, {f32({16, 8}), index({12}, 16)}, along(0), kBits});
  list.push_back({"index_select a middle dim",
                  OpKind::kIndexSelect,
                  {f32({8, 16, 4}), i32({4}, 16)},
                  along(1),
                  kBits});
}

void putting(std::vector<OpCase>& list) {
  list.push_back(
      {"index_put", OpKind::kIndexPut, {f32({16, 8}), f32({12, 8}), index({12}, 16)}, {}, kBits});
  list.push_back({"index_put adding",
                  OpKind::kIndexPut,
                  {f32({16, 8}), f32({4, 12, 8}), index({4, 12}, 16)},
                  attrs({{AttrKey::kAccumulate, true}})});
  // Rows that are longer than a chunk, and rows that are not contiguous.
  list.push_back({"index_put adding long rows",
                  OpKind::kIndexPut,
                  {f32({16, 8, 40}), f32({12, 8, 40}), index({12}, 16)},
                  attrs({{AttrKey::kAccumulate, true}})});
  list.push_back({"index_put of one number at dims apart",
                  OpKind::kIndexPut,
                  {f32({8, 4, 16}), f32({1}), index({4}, 8), index({4}, 16)},
                  attrs({{AttrKey::kDims, ints({0, 2})}}),
                  kBits});
}

void losses(std::vector<OpCase>& list) {
  const auto reduced = [](int64_t how) {
    return attrs({{AttrKey::kReduction, how}, {AttrKey::kIgnoreIndex, int64_t{3}}});
  };
  for (const auto& [name, how] : {std::pair("each", int64_t{0}), std::pair("mean", int64_t{1}),
                                  std::pair("sum", int64_t{2})}) {
    const std::string n = name;
    list.push_back({"nll_loss " + n,
                    OpKind::kNllLoss,
                    {f32({8, 16}), index({8}, 16), f32({16}, 0.5, 2)},
                    reduced(how)});
    const Dims grad = how == 0 ? Dims{8, 4} : Dims{};
    list.push_back({"nll_loss_backward " + n,
                    OpKind::kNllLossBackward,
                    {f32(grad), f32({8, 16, 4}), index({8, 4}, 16), absent(), f32({}, 4, 8)},
                    reduced(how)});
  }
}

}  // namespace

void lookup_cases(std::vector<OpCase>& list) {
  lookup_and_attention(list);
  sliding_windows(list);
  pages(list);
  packed_documents(list);
  dropped_weights(list);
  along_a_dim(list);
  putting(list);
  losses(list);
}

}  // namespace shw::testing
