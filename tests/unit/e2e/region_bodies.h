// Functions that serve as bodies of manual regions, and helpers that plan and run graphs with
// regions.
#pragma once
#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "packed.h"
#include "runtime/host_kernel.h"
#include "runtime/virtual_ranks.h"

namespace shw::testing {

// A tensor in memory with at most three dims.
struct PieceView {
  const TensorType* type;
  void* data;
  float& at(int64_t i, int64_t j, int64_t k) const {
    const Dims& s = type->strides;
    return static_cast<float*>(data)[i * s[0] + j * s[1] + k * s[2]];
  }
  int64_t size(size_t d) const { return type->shape[d]; }
};

// y[e] = x[e] w[e], for the experts, tokens and widths that this rank holds.
inline void multiply_experts(const PieceView& x, const PieceView& w, const PieceView& y) {
  for (int64_t e = 0; e < y.size(0); ++e)
    for (int64_t t = 0; t < y.size(1); ++t)
      for (int64_t o = 0; o < y.size(2); ++o) {
        float sum = 0;
        for (int64_t i = 0; i < w.size(1); ++i) sum += x.at(e, t, i) * w.at(e, i, o);
        y.at(e, t, o) = sum;
      }
}
// dw[e] = scale · x[e]ᵀ g[e], for the tokens that this rank holds.
inline void expert_gradients(const PieceView& x, const PieceView& g, const PieceView& dw,
                             float scale) {
  for (int64_t e = 0; e < dw.size(0); ++e)
    for (int64_t i = 0; i < dw.size(1); ++i)
      for (int64_t o = 0; o < dw.size(2); ++o) {
        float sum = 0;
        for (int64_t t = 0; t < x.size(1); ++t) sum += x.at(e, t, i) * g.at(e, t, o);
        dw.at(e, i, o) = scale * sum;
      }
}

// A region's body. It gets all operands and results, including absent ones.
using Body = void (*)(std::span<const PieceView> in, std::span<const PieceView> out, int64_t rank);

class BodyKernel final : public runtime::HostKernel {
 public:
  BodyKernel(Body body, const runtime::KernelArgs& args)
      : body_(body), num_inputs_(args.inputs.size()), rank_(args.rank) {
    for (const auto& types : {args.inputs, args.outputs})
      for (const TensorType* t : types) views_.push_back({t, nullptr});
  }
  Status compute(void* const* buffers) noexcept override {
    for (size_t i = 0; i < views_.size(); ++i) views_[i].data = buffers[i];
    const std::span<const PieceView> all(views_);
    body_(all.first(num_inputs_), all.subspan(num_inputs_), rank_);
    return {};
  }

 private:
  Body body_;
  size_t num_inputs_;
  int64_t rank_;
  std::vector<PieceView> views_;
};

inline runtime::RegionBody region(const char* name, Body body) {
  return {
      name,
      [body](runtime::Device&,
             const runtime::KernelArgs& args) -> Result<std::unique_ptr<runtime::PreparedKernel>> {
        return std::unique_ptr<runtime::PreparedKernel>(std::make_unique<BodyKernel>(body, args));
      }};
}

inline Compiled compiled_text(const std::string& text, const CompileOptions& options) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  Monitor monitor;
  auto c = testing::compile_packed(write_graph(*graph), options, monitor);
  EXPECT_TRUE(c.ok()) << c.status().node_name() << ": " << c.status().message();
  return *std::move(c);
}

inline Result<std::unique_ptr<runtime::VirtualRanks>> ranks_of(
    const Compiled& c, std::vector<runtime::RegionBody> bodies) {
  auto plan = read_plan(c.bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(write_plan(*plan), c.bytes);
  return runtime::VirtualRanks::create(std::make_shared<const Plan>(std::move(*plan)),
                                       {.regions = std::move(bodies)});
}

// Runs the plan on small integers: the results are then exact in any order of summation.
inline std::vector<std::vector<std::byte>> run_on_integers(
    const Compiled& c, std::vector<runtime::RegionBody> bodies) {
  auto ranks = ranks_of(c, std::move(bodies));
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  if (!ranks.ok()) return {};
  std::vector<std::vector<float>> values;
  std::vector<runtime::HostTensorView> views;
  for (PortId id : (*ranks)->program().entries[0].inputs) {
    const Port& port = (*ranks)->program().ports[id];
    std::vector<float>& v = values.emplace_back(static_cast<size_t>(port.global.numel()));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<float>((i * 7 + i / 5 + values.size()) % 5) - 2;
    views.push_back({port.global, v.data()});
  }
  auto got = (*ranks)->run("step", views);
  EXPECT_TRUE(got.ok()) << got.status().message();
  std::vector<std::vector<std::byte>> data;
  if (got.ok())
    for (auto& t : *got) data.push_back(std::move(t.data));
  return data;
}

}  // namespace shw::testing
