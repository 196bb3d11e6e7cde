#include "plan_fuzz_inline.h"

#include <algorithm>
#include <cstring>

#include "runtime/host_kernel.h"
#include "runtime/program_layout.h"

namespace shw::fuzz {
namespace {

using runtime::CollectiveSpec;
using runtime::Event;
using runtime::MemorySpec;

class InlineStream final : public runtime::Stream {
 public:
  explicit InlineStream(runtime::Fault& fault) : fault_(fault) {}
  void record(Event&) override {}
  void wait(const Event&) override {}
  void host(runtime::HostWork& work, void* const* buffers) override {
    if (fault_.raised()) return;
    if (Status s = work.run(buffers); !s.ok()) fault_.raise(std::move(s));
  }
  void copy(void* to, const void* from, int64_t bytes, runtime::CopyKind) override {
    std::memmove(to, from, static_cast<size_t>(bytes));
  }
  void fill(void* to, std::byte value, int64_t bytes) override {
    std::memset(to, static_cast<int>(value), static_cast<size_t>(bytes));
  }
  Result<void*> allocate(const MemorySpec&) override { return unimplemented("not needed"); }
  void free(void*, const MemorySpec&) override {}
  void flush() override {}
  Status synchronize() override { return fault_.status(); }
  Status status() const override { return {}; }

 private:
  runtime::Fault& fault_;
};

// The CPU device with other streams.
class InlineDevice final : public runtime::Device {
 public:
  explicit InlineDevice(const Guards& guards) : cpu_(guarding_allocator(guards)) {}
  const runtime::DeviceClass& device_class() const override { return cpu_.device_class(); }
  Result<void*> allocate(const MemorySpec& spec) override { return cpu_.allocate(spec); }
  void free(void* memory, const MemorySpec& spec) override { cpu_.free(memory, spec); }
  Status copy(void* to, const void* from, int64_t bytes, runtime::CopyKind kind) override {
    return cpu_.copy(to, from, bytes, kind);
  }
  Result<std::unique_ptr<runtime::Stream>> create_stream(
      const runtime::StreamOptions& options) override {
    return std::unique_ptr<runtime::Stream>(std::make_unique<InlineStream>(*options.fault));
  }
  Result<std::unique_ptr<Event>> create_event(const runtime::EventOptions& options) override {
    return cpu_.create_event(options);
  }
  bool has_kernel(std::string_view name) const override { return cpu_.has_kernel(name); }
  Result<std::unique_ptr<runtime::PreparedKernel>> prepare(
      std::string_view kernel, const runtime::KernelArgs& args) override {
    return cpu_.prepare(kernel, args);
  }

 private:
  runtime::cpu::CpuDevice cpu_;
};

// Reads its whole input and writes its whole output, as the real collective does.
class InlineCollective final : public runtime::HostKernel {
 public:
  InlineCollective(const CollectiveSpec& spec, int64_t members) {
    const int64_t bytes = spec.count * dtype_size(spec.dtype), all = bytes * members;
    const auto is = [&](std::initializer_list<CollectiveKind> kinds) {
      return std::ranges::find(kinds, spec.kind) != kinds.end();
    };
    const std::initializer_list<CollectiveKind> kSame = {CollectiveKind::kAllReduce,
                                                         CollectiveKind::kPermute};
    in_ = is(kSame) || is({CollectiveKind::kAllGather}) ? bytes : all;
    out_ = is(kSame) || is({CollectiveKind::kReduceScatter}) ? bytes : all;
  }
  Status compute(void* const* buffers) override {
    auto* to = static_cast<std::byte*>(buffers[1]);
    for (int64_t at = 0; at < out_; at += in_)
      std::memcpy(to + at, buffers[0], static_cast<size_t>(std::min(in_, out_ - at)));
    return {};
  }

 private:
  int64_t in_, out_;
};

class InlineChannel final : public runtime::Channel {
 public:
  explicit InlineChannel(int64_t size) : size_(size) {}
  int64_t member() const override { return 0; }
  int64_t size() const override { return size_; }
  Result<std::unique_ptr<runtime::PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    return std::unique_ptr<runtime::PreparedKernel>(
        std::make_unique<InlineCollective>(spec, size_));
  }

 private:
  int64_t size_;
};

class InlineProvider final : public runtime::ChannelProvider {
 public:
  InlineProvider(const Mesh& mesh, int64_t rank) : mesh_(mesh), rank_(rank) {}
  int64_t rank() const override { return rank_; }
  const Mesh& mesh() const override { return mesh_; }
  Result<std::unique_ptr<runtime::Channel>> channel(std::span<const uint8_t> axes) override {
    int64_t size = 1;
    for (uint8_t axis : axes) size *= mesh_.size(axis);
    return std::unique_ptr<runtime::Channel>(std::make_unique<InlineChannel>(size));
  }
  void abort(const Status&) override {}
  void reset() override {}

 private:
  Mesh mesh_;
  int64_t rank_;
};

}  // namespace

Result<std::unique_ptr<InlineRank>> InlineRank::create(const Plan& plan, int64_t rank,
                                                       const Guards& guards) {
  std::unique_ptr<InlineRank> r(new InlineRank());
  const Program& p = plan.program;
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(p.mesh));
  r->device_ = std::make_shared<InlineDevice>(guards);
  r->provider_ = std::make_unique<InlineProvider>(mesh, rank);
  SHW_ASSIGN_OR_RETURN(r->kernels_,
                       runtime::StepKernels::create(p, *r->device_, *r->provider_, {}));
  SHW_ASSIGN_OR_RETURN(r->memory_, runtime::ProgramMemory::create(r->device_, p, mesh, rank,
                                                                  r->kernels_.workspace_bytes(p),
                                                                  r->kernels_.group_bytes(p)));
  if (p.session_bytes + p.host_session_bytes > 0) {
    SHW_ASSIGN_OR_RETURN(r->session_,
                         runtime::Session::create(std::make_shared<const char>(), r->device_, p));
  }
  for (const ProgramEntry& e : p.entries)
    r->entries_.push_back(runtime::write_commands(p, e, r->memory_, r->kernels_));
  SHW_ASSIGN_OR_RETURN(r->on_,
                       runtime::create_streams(*r->device_, r->fault_, p, r->entries_, 1, nullptr));
  for (size_t s = 0; s < r->on_.streams.size(); ++s) {
    SHW_ASSIGN_OR_RETURN(auto event, r->device_->create_event({}));
    r->ended_.push_back(std::move(event));
  }
  return r;
}

Status InlineRank::run(size_t entry, const IndexVec<PortId, std::byte*>& ports) {
  std::vector<void*> pointers = entries_[entry].pointers;
  runtime::RunMemory run{ports};
  if (session_ != nullptr) run.use(*session_);
  runtime::point_run_at(entries_[entry], run, pointers);
  runtime::replay(entries_[entry], on_, kernels_, pointers.data(), ended_);
  const Status status = fault_.status();
  fault_.clear();
  return status;
}

}  // namespace shw::fuzz
