// Machines and meshes that the cost tests share.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "cost/collective.h"

namespace shw::cost {

inline constexpr int64_t kMiB = 1 << 20;
inline constexpr auto kAG = Collective::kAllGather;
inline constexpr auto kRS = Collective::kReduceScatter;
inline constexpr auto kAR = Collective::kAllReduce;
inline constexpr auto kA2A = Collective::kAllToAll;

inline Mesh mesh_of(const std::string& shape) {  // "8x8"
  std::string text = "a=";
  char name = 'a';
  for (char c : shape) text += c == 'x' ? std::string(",") + ++name + "=" : std::string(1, c);
  const auto mesh = Mesh::parse(text);
  EXPECT_TRUE(mesh.ok()) << shape << ": " << mesh.status().message();
  return *mesh;
}

inline Hardware machine(const char* name) {
  const auto hardware = hardware_by_name(name);
  EXPECT_TRUE(hardware.ok()) << hardware.status().message();
  return *hardware;
}

inline Hardware machine(const char* name, int64_t gpus_per_node) {
  Hardware hardware = machine(name);
  hardware.nccl->gpus_per_node = gpus_per_node;
  return hardware;
}

inline CollectiveModel model_of(const Hardware& hardware, const std::string& shape) {
  auto model = CollectiveModel::create(hardware, mesh_of(shape));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *std::move(model);
}

// Our figures and the reference's are doubles that were rounded in a different order, so they are
// compared with a relative tolerance of 1e-9.
inline ::testing::AssertionResult agrees(double got, double want, double relative = 1e-9) {
  if (got == want || std::abs(got - want) <= relative * std::abs(want))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", want " << want;
}

}  // namespace shw::cost
