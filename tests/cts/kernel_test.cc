#include "cts/kernel_test.h"

#include <cmath>
#include <set>
#include <utility>

namespace shw::cts {
namespace {

using runtime::CopyKind;
using runtime::Device;

// Device memory for the bytes of a window or for the workspace.
class DeviceBytes {
 public:
  DeviceBytes(Device& device, int64_t bytes) : device_(device), bytes_(bytes) {
    data_ = *device_.allocate({bytes});
  }
  ~DeviceBytes() { device_.free(data_, {bytes_}); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  void* data() const { return data_; }

 private:
  Device& device_;
  int64_t bytes_;
  void* data_;
};

int64_t size_of(const Window& w) { return static_cast<int64_t>(w.bytes().size()); }

}  // namespace

Status KernelTest::run(const Call& call) {
  std::vector<const TensorType*> in, out;
  for (const Window* w : call.inputs) in.push_back(w != nullptr ? &w->type() : nullptr);
  for (const Window* w : call.outputs) out.push_back(w != nullptr ? &w->type() : nullptr);
  const Mesh mesh = *Mesh::parse(call.mesh);
  SHW_ASSIGN_OR_RETURN(auto prepared,
                       device_->prepare(call.kernel, {in, out, call.attrs, mesh, call.rank}));

  std::vector<std::unique_ptr<DeviceBytes>> memory;
  std::vector<void*> pointers;
  const auto upload = [&](const Window* w) -> Status {
    if (w == nullptr) {
      pointers.push_back(nullptr);
      return {};
    }
    memory.push_back(std::make_unique<DeviceBytes>(*device_, size_of(*w)));
    void* data = memory.back()->data();
    pointers.push_back(static_cast<std::byte*>(data) + w->offset_bytes());
    return device_->copy(data, w->bytes().data(), size_of(*w), CopyKind::kHostToDevice);
  };
  for (const Window* w : call.inputs) SHW_RETURN_IF_ERROR(upload(w));
  for (const Window* w : call.outputs) SHW_RETURN_IF_ERROR(upload(w));
  const DeviceBytes workspace(*device_, prepared->workspace_bytes());
  pointers.push_back(workspace.data());

  runtime::Fault fault;
  SHW_ASSIGN_OR_RETURN(auto stream, device_->create_stream({.fault = &fault}));
  prepared->launch(*stream, pointers.data());
  const Status status = stream->synchronize();
  if (!stream->status().ok()) {  // the device is lost, so the next call needs a new one
    stream.reset();
    memory.clear();
    lost_.push_back(std::exchange(device_, GetParam().make()));
    return status;
  }
  const auto download = [&](const Window& w, size_t operand, std::vector<std::byte>& to) {
    const auto* data = static_cast<const std::byte*>(pointers[operand]) - w.offset_bytes();
    return device_->copy(to.data(), data, size_of(w), CopyKind::kDeviceToHost);
  };
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i] == nullptr) continue;
    std::vector<std::byte> after(call.inputs[i]->bytes().size());
    SHW_RETURN_IF_ERROR(download(*call.inputs[i], i, after));
    EXPECT_EQ(after, call.inputs[i]->bytes()) << call.kernel << " wrote to its input " << i;
  }
  for (size_t i = 0; i < call.outputs.size(); ++i)
    if (Window* w = call.outputs[i])
      SHW_RETURN_IF_ERROR(download(*w, call.inputs.size() + i, w->bytes()));
  return status;
}

void KernelTest::run_ok(const Call& call) {
  std::vector<std::vector<std::byte>> gaps;
  for (const Window* w : call.outputs)
    gaps.push_back(w != nullptr ? w->gaps() : std::vector<std::byte>());
  const Status status = run(call);
  ASSERT_TRUE(status.ok()) << call.kernel << ": " << status.message();
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (call.outputs[i] == nullptr) continue;
    EXPECT_EQ(call.outputs[i]->gaps(), gaps[i]) << "output " << i << " was written beside";
  }
  static std::set<std::pair<std::string, std::string>> done;
  if (done.emplace(GetParam().name, call.kernel).second) expect_one_more_is_no_harm(call);
}

void KernelTest::expect_one_more_is_no_harm(const Call& call) {
  const Window more = Window(Dtype::kI64, {1}).fill([](int64_t) { return 1; });
  std::vector<Window> outputs;
  for (const Window* w : call.outputs) outputs.push_back(w != nullptr ? *w : more);
  Call with = call;
  with.inputs.push_back(&more);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (call.outputs[i] != nullptr) with.outputs[i] = &outputs[i];
  (void)run(with).ok();  // run() itself checks the inputs; the status does not matter
  for (size_t i = 0; i < outputs.size(); ++i)
    if (call.outputs[i] != nullptr) {
      EXPECT_EQ(outputs[i].gaps(), call.outputs[i]->gaps()) << call.kernel << ", an input more";
    }
}

void expect_elements(const Window& got, const std::function<Number(const Index&)>& want,
                     double relative) {
  int64_t wrong = 0;
  for_each_index(got.shape(), [&](const Index& index) {
    const Number g = got.get(index), w = rounded(got.dtype(), want(index));
    const auto same = [&](double a, double b) {
      return (std::isnan(a) && std::isnan(b)) || a == b ||
             std::abs(a - b) <= relative * std::max(1.0, std::abs(b));
    };
    if (same(g.real(), w.real()) && same(g.imag(), w.imag())) return;
    if (++wrong > 3) return;
    std::string at;
    for (int64_t i : index) at += " " + std::to_string(i);
    ADD_FAILURE() << to_string(got.type()) << " at" << at << ": " << g << ", want " << w;
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace shw::cts
