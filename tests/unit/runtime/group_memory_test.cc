// Group memory is allocated only where the steps of a group run one by one, and only as much as
// these steps need.
#include <gtest/gtest.h>

#include "runtime/collective/local.h"
#include "runtime/cpu/device.h"
#include "runtime/null/device.h"
#include "runtime/program_memory.h"
#include "runtime/step_kernels.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/program_builder.h"

namespace shw::runtime {
namespace {

using shw::testing::in_groups;
using shw::testing::ProgramBuilder;

constexpr int64_t kFew = 64 * 256, kMany = 4 * kFew;  // elements

// Four exponentials of many elements, and four negations of few.
std::shared_ptr<const Plan> two_chains() {
  ProgramBuilder b({{"a", 1}});
  const auto chain = [&](const std::string& kernel, int64_t count) {
    const Dims shape{count / 256, 256};
    ValueId v = b.input(kernel + ".x", Dtype::kF32, shape, Layout{});
    for (int i = 0; i < 4; ++i) v = b.compute(kernel, {v}, row_major(Dtype::kF32, shape));
    b.output(kernel, v, shape, Layout{});
  };
  chain("exp", kMany);
  chain("neg", kFew);
  return in_groups(*b.finish());
}

// A dry-run device that has group kernels only for groups that begin with an exponential.
class ExpDevice final : public Device {
 public:
  const DeviceClass& device_class() const override { return null_.device_class(); }
  Result<void*> allocate(const MemorySpec& spec) override { return null_.allocate(spec); }
  void free(void* memory, const MemorySpec& spec) override { null_.free(memory, spec); }
  Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) override {
    return null_.copy(to, from, bytes, kind);
  }
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override {
    return null_.create_stream(options);
  }
  Result<std::unique_ptr<Event>> create_event(const EventOptions& options) override {
    return null_.create_event(options);
  }
  bool has_kernel(std::string_view name) const override { return null_.has_kernel(name); }
  Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                  const KernelArgs& args) override {
    return null_.prepare(kernel, args);
  }
  Result<GroupKernel> prepare_group(std::span<const GroupStep> steps) override {
    if (steps[0].kernel != "exp") return unimplemented("other steps run by themselves");
    size_t count = 1;
    while (count < steps.size() && steps[count].kernel != "neg") ++count;
    SHW_ASSIGN_OR_RETURN(auto kernel, null_.prepare("exp", steps[0].args));
    return GroupKernel{std::move(kernel), count};
  }

 private:
  null::NullDevice null_;
};

int64_t needed_bytes(const Plan& plan, Device& device, bool fuse = true) {
  const auto provider = LocalHub::create(*Mesh::create(plan.program.mesh))->provider(0);
  const auto kernels = StepKernels::create(plan.program, device, *provider, {}, fuse);
  EXPECT_TRUE(kernels.ok()) << kernels.status().message();
  return kernels->group_bytes(plan.program);
}

TEST(GroupMemory, IsWhatStepsThatRunAloneNeed) {
  const auto plan = two_chains();
  ASSERT_EQ(plan->program.group_bytes, 2 * kMany * 4);
  cpu::CpuDevice slices;
  null::NullDevice one_by_one;
  ExpDevice some;
  EXPECT_EQ(needed_bytes(*plan, slices), 0);
  EXPECT_EQ(needed_bytes(*plan, slices, false), plan->program.group_bytes);
  EXPECT_EQ(needed_bytes(*plan, one_by_one), plan->program.group_bytes);
  EXPECT_EQ(needed_bytes(*plan, some), 2 * kFew * 4);
}

TEST(GroupMemory, IsAllocatedAsFarAsItIsNeeded) {
  const auto plan = two_chains();
  const Program& p = plan->program;
  const Mesh mesh = *Mesh::create(p.mesh);
  const auto create = [&](int64_t group_bytes, int64_t device_bytes) {
    const auto device = std::make_shared<null::NullDevice>(device_bytes);
    return ProgramMemory::create(device, p, mesh, 0, {}, group_bytes);
  };
  const int64_t needed = 2 * kFew * 4;
  const auto memory = create(needed, p.arena_bytes + needed);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  for (const ProgramStorage& s : p.storages)
    if (s.kind == StorageKind::kGroup) {
      const bool has_memory = s.offset_bytes + s.bytes <= needed;
      EXPECT_EQ(memory->base_of(s).address != nullptr, has_memory);
    }
  const auto refused = create(needed, p.arena_bytes + needed - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("fused groups"), std::string::npos)
      << refused.status().message();
}

}  // namespace
}  // namespace shw::runtime
