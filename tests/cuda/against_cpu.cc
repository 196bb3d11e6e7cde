#include "cuda/against_cpu.h"

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "runtime/cpu/device.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/kernel.h"

namespace shw::testing {
namespace {

using cts::Window;
using runtime::CopyKind;
using runtime::MemorySpec;

// Device memory that lives for one launch.
class Block {
 public:
  Block(runtime::Device& device, int64_t bytes) : device_(device), spec_{bytes} {
    auto allocated = device_.allocate(spec_);
    if (allocated.ok()) data_ = *allocated;
  }
  ~Block() {
    if (data_ != nullptr) device_.free(data_, spec_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  runtime::Device& device_;
  const MemorySpec spec_;
  void* data_ = nullptr;
};

int64_t size_of(const Window& w) { return static_cast<int64_t>(w.bytes().size()); }

double unit(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 4e-15;
    case Dtype::kF16:
      return 0x1p-10;
    case Dtype::kBF16:
      return 0x1p-7;
    case Dtype::kF8E4M3:
      return 0x1p-3;
    case Dtype::kF8E5M2:
      return 0x1p-2;
    default:
      return 1e-6;
  }
}

// Compares one element. `at` is its index in the failure message.
void expect_near(Dtype dtype, const cts::Number& got, const cts::Number& want, double slack,
                 int64_t at) {
  const bool is_exact = !is_floating(dtype) && !is_complex(dtype);
  for (const auto& [g, w] :
       {std::pair{got.real(), want.real()}, std::pair{got.imag(), want.imag()}}) {
    if (std::isnan(w) || std::isinf(w) || is_exact) {
      EXPECT_TRUE(g == w || (std::isnan(g) && std::isnan(w)))
          << "element " << at << ": " << g << ", want " << w;
    } else {
      EXPECT_LE(std::abs(g - w), unit(dtype) * slack * std::max(1.0, std::abs(w)))
          << "element " << at << ": " << g << ", want " << w;
    }
  }
}

// With SHW_TEST_GPU, a machine without a GPU skips these suites.
class TheGpu : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!is_on_gpu()) return;
    // This device is never closed: opening a device that no process has open is slow.
    static auto* const device = new auto(runtime::cuda::CudaDevice::open(cuda_options()));
    if (device->ok()) return;
    std::cout << "not run: no device: " << device->status().message() << std::endl;
    std::exit(device->status().code() == Code::kUnavailable ? 0 : 1);
  }
};
const auto* const kTheGpu = ::testing::AddGlobalTestEnvironment(new TheGpu);

}  // namespace

void OnCuda::SetUp() {
  auto opened = runtime::cuda::CudaDevice::open(cuda_options());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  device_ = std::move(*opened);
}

Status run_kernel(runtime::Device& device, const std::string& kernel, const Inputs& inputs,
                  const Outputs& outputs, const Attrs& attrs, const OfRank& of) {
  std::vector<const TensorType*> in, out;
  for (const Window* w : inputs) in.push_back(w != nullptr ? &w->type() : nullptr);
  for (const Window* w : outputs) out.push_back(w != nullptr ? &w->type() : nullptr);
  const Mesh mesh = *Mesh::parse(of.mesh);
  SHW_ASSIGN_OR_RETURN(auto prepared, device.prepare(kernel, {in, out, attrs, mesh, of.rank}));
  std::vector<std::unique_ptr<Block>> memory;
  std::vector<void*> pointers;
  const auto upload = [&](const Window* w) -> Status {
    memory.push_back(w != nullptr ? std::make_unique<Block>(device, size_of(*w)) : nullptr);
    pointers.push_back(w != nullptr ? memory.back()->data() + w->offset_bytes() : nullptr);
    if (w == nullptr) return {};
    return device.copy(memory.back()->data(), w->bytes().data(), size_of(*w),
                       CopyKind::kHostToDevice);
  };
  for (const Window* w : inputs) SHW_RETURN_IF_ERROR(upload(w));
  for (const Window* w : outputs) SHW_RETURN_IF_ERROR(upload(w));
  const Block workspace(device, prepared->workspace_bytes());
  pointers.push_back(workspace.data());
  runtime::Fault fault;
  SHW_ASSIGN_OR_RETURN(auto stream, device.create_stream({.fault = &fault}));
  prepared->launch(*stream, pointers.data());
  SHW_RETURN_IF_ERROR(stream->synchronize());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    SHW_RETURN_IF_ERROR(device.copy(outputs[i]->bytes().data(), memory[inputs.size() + i]->data(),
                                    size_of(*outputs[i]), CopyKind::kDeviceToHost));
  }
  return {};
}

void expect_as_on_the_cpu(runtime::Device& cuda, const std::string& kernel, const Inputs& inputs,
                          const Outputs& outputs, const Attrs& attrs, double slack,
                          const OfRank& of) {
  runtime::cpu::CpuDevice cpu;
  std::vector<Window> copies;
  for (const Window* w : outputs) copies.push_back(w != nullptr ? *w : Window(Dtype::kF32, {}));
  Outputs want;
  for (size_t i = 0; i < outputs.size(); ++i)
    want.push_back(outputs[i] != nullptr ? &copies[i] : nullptr);
  const Status right = run_kernel(cpu, kernel, inputs, want, attrs, of);
  ASSERT_TRUE(right.ok()) << kernel << " on the CPU: " << right.message();
  const Status status = run_kernel(cuda, kernel, inputs, outputs, attrs, of);
  ASSERT_TRUE(status.ok()) << kernel << ": " << status.message();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    SCOPED_TRACE(kernel + ", output " + std::to_string(i));
    const Window& got = *outputs[i];
    EXPECT_EQ(got.gaps(), want[i]->gaps()) << "wrote between the elements";
    int64_t at = 0;
    cts::for_each_index(got.shape(), [&](const cts::Index& index) {
      expect_near(got.dtype(), got.get(index), want[i]->get(index), slack, at++);
    });
  }
}

}  // namespace shw::testing
