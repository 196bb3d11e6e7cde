#include "plan_fuzz_run.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "plan_fuzz_guard.h"
#include "runtime/cpu/device.h"
#include "runtime/virtual_ranks.h"

namespace shw::fuzz {
namespace {

using runtime::BufferRef;
using runtime::VirtualRanks;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

enum class Pattern { kZeros, kIndices, kNoise, kOnes };

// Small numbers in 8-byte words are indices that exist and, as floats, next to nothing.
uint8_t byte_at(Pattern pattern, size_t i, uint64_t seed) {
  switch (pattern) {
    case Pattern::kZeros:
      return 0;
    case Pattern::kIndices:
      return i % 8 == 0 ? static_cast<uint8_t>((seed + i / 8) % 3) : 0;
    case Pattern::kNoise:
      return static_cast<uint8_t>((seed + i) * 0x9e3779b97f4a7c15u >> 40);
    case Pattern::kOnes:
      return 0xff;
  }
  return 0;
}

// What one round of one entry gave: bytes of every output on every rank, or nothing after an error.
using Results = std::vector<std::vector<std::byte>>;

class Job {
 public:
  // `guards`: what lies where in arena and session; empty: as planned.
  Job(const Plan& plan, const Guards& guards)
      : plan_(std::make_shared<const Plan>(plan)), guards_(guards) {}

  Status create() {
    runtime::RankBackend backend;
    backend.device = [this](int64_t) {
      return std::make_shared<runtime::cpu::CpuDevice>(guarding_allocator(guards_));
    };
    SHW_ASSIGN_OR_RETURN(ranks_, VirtualRanks::create(plan_, {.max_in_flight = 2}, backend));
    return {};
  }

  Results run(const ProgramEntry& entry, Pattern pattern) {
    const auto n = static_cast<size_t>(ranks_->num_ranks());
    std::vector<std::vector<BufferRef>> in(n), out(n);
    std::vector<runtime::Completion> done;
    Status status;
    for (size_t r = 0; r < n && status.ok(); ++r) {
      for (PortId port : entry.inputs) in[r].push_back(buffer(port, pattern, r));
      for (PortId port : entry.outputs) out[r].push_back(output(port));
      auto run = ranks_->executor(static_cast<int64_t>(r)).enqueue(entry, in[r], out[r]);
      if (run.ok())
        done.push_back(*run);
      else
        status = run.status();
    }
    // Those that have begun would wait for this one.
    if (!status.ok())
      for (size_t r = 0; r < n; ++r) ranks_->executor(static_cast<int64_t>(r)).abort();
    for (const auto& run : done)
      if (Status s = run.wait(); !s.ok()) status = s;
    if (!status.ok()) {
      if (status.message().empty()) fail("an error without a message");
      ranks_->reset();
      return {};
    }
    Results results;
    for (const auto& rank : out)
      for (const BufferRef& b : rank) {
        auto& bytes = results.emplace_back(b == nullptr ? 0 : static_cast<size_t>(b->bytes()));
        if (!bytes.empty()) std::memcpy(bytes.data(), b->data(), bytes.size());
      }
    return results;
  }

 private:
  int64_t bytes_of(PortId port) const {
    const Program& p = plan_->program;
    const ValueId v = p.ports[port].value;
    return v.valid() ? p.storages[p.values[v].storage].bytes : 0;
  }
  // Exactly as large as the port, so that the sanitizer sees its end.
  static BufferRef of_bytes(int64_t bytes) {
    auto* memory = static_cast<std::byte*>(
        ::operator new(static_cast<size_t>(bytes), std::align_val_t(kArenaAlignment)));
    return runtime::Buffer::borrow(
        memory, bytes, [=] { ::operator delete(memory, std::align_val_t(kArenaAlignment)); });
  }
  BufferRef buffer(PortId port, Pattern pattern, size_t rank) const {
    BufferRef b = of_bytes(bytes_of(port));
    const uint64_t seed = plan_->checksum + 31 * port.v + 7 * rank;
    for (size_t i = 0; i < static_cast<size_t>(b->bytes()); ++i)
      static_cast<uint8_t*>(b->data())[i] = byte_at(pattern, i, seed);
    return b;
  }
  // Null where it is the buffer of an input, or nothing.
  BufferRef output(PortId port) const {
    const Port& p = plan_->program.ports[port];
    if (!p.value.valid() || !plan_->program.lies_in(p, StorageKind::kOutput)) return nullptr;
    BufferRef b = of_bytes(bytes_of(port));
    if (b->bytes() > 0) std::memset(b->data(), 0, static_cast<size_t>(b->bytes()));
    return b;
  }

  std::shared_ptr<const Plan> plan_;
  Guards guards_;
  std::unique_ptr<VirtualRanks> ranks_;
};

constexpr int64_t kMostRanks = 8, kMostElements = 1024, kMostBytes = 1 << 20;
constexpr size_t kMostSteps = 48, kMostValues = 256, kMostPorts = 64, kMostEntries = 6;

}  // namespace

bool is_small(const Program& p) {
  int64_t ranks = 1, bytes = p.arena_bytes + p.session_bytes;
  for (const Mesh::Axis& a : p.mesh)
    if (a.size > kMostRanks || (ranks *= a.size) > kMostRanks) return false;
  if (p.steps.size() > kMostSteps || p.values.size() > kMostValues ||
      p.ports.size() > kMostPorts || p.entries.size() > kMostEntries)
    return false;
  for (const ProgramStorage& s : p.storages)
    if (s.bytes > kMostBytes || (bytes += s.bytes) > kMostBytes) return false;
  for (const ProgramValue& v : p.values) {
    int64_t elements = 1;
    for (int64_t d : v.type.shape)
      if (d > kMostElements || (elements *= std::max<int64_t>(d, 1)) > kMostElements) return false;
  }
  for (const Port& port : p.ports)
    if (port.global.bytes() > kMostBytes) return false;
  return true;
}

void run_plan(const Plan& plan) {
  Plan apart = plan;
  const Guards guards = move_apart(apart.program);
  if (Status s = verify(apart.program, apart.program.arena_bytes + apart.program.session_bytes > 0);
      !s.ok())
    fail("moved apart, the plan is not sound: " + s.message());
  Job planned(plan, {}), guarded(apart, guards);
  const Status a = planned.create(), b = guarded.create();
  if (a.ok() != b.ok()) fail("one of the two is refused: " + a.message() + b.message());
  if (!a.ok()) {
    if (a.message().empty()) fail("a refusal without a message");
    return;
  }
  const auto other = static_cast<Pattern>(1 + plan.checksum % 3);
  for (Pattern pattern : {Pattern::kZeros, other})
    for (size_t e = 0; e < plan.program.entries.size(); ++e) {
      const Results one = planned.run(plan.program.entries[e], pattern);
      const Results two = guarded.run(apart.program.entries[e], pattern);
      if (one != two)
        fail("entry " + std::to_string(e) + " gives other bits where storages share no memory");
    }
}

}  // namespace shw::fuzz
