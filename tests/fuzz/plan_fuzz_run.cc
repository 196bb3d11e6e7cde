#include "plan_fuzz_run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "plan_fuzz_guard.h"
#include "plan_fuzz_inline.h"
#include "runtime/virtual_ranks.h"

namespace shw::fuzz {
namespace {

using runtime::BufferRef;
using runtime::VirtualRanks;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}
void check_refusal(const Status& status) {
  if (!status.ok() && status.message().empty()) fail("a refusal without a message");
}

enum class Pattern { kZeros, kIndices, kNoise, kOnes };

// Small numbers in 8-byte words are valid indices, and as floats they are close to zero.
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

// The buffers of a rank's inputs and outputs in one run. Each buffer is exactly as large as its
// port, so that the sanitizer detects an access beyond its end.
class Ports {
 public:
  Ports(const Plan& plan, const ProgramEntry& entry, Pattern pattern, int64_t rank)
      : pointers(plan.program.ports.size(), nullptr) {
    const Program& p = plan.program;
    for (PortId id : entry.inputs) {
      in.push_back(of_bytes(bytes_of(p, id)));
      const uint64_t seed = plan.checksum + 31 * id.v + 7 * static_cast<uint64_t>(rank);
      for (size_t i = 0; i < static_cast<size_t>(in.back()->bytes()); ++i)
        static_cast<uint8_t*>(in.back()->data())[i] = byte_at(pattern, i, seed);
      pointers[id] = static_cast<std::byte*>(in.back()->data());
    }
    for (PortId id : entry.outputs) {
      BufferRef b;  // null if the port shares the buffer of an input, or has none
      if (p.lies_in(p.ports[id], StorageKind::kOutput)) {
        b = of_bytes(bytes_of(p, id));
        std::memset(b->data(), 0, static_cast<size_t>(b->bytes()));
        pointers[id] = static_cast<std::byte*>(b->data());
      }
      out.push_back(b);
    }
  }
  // The contents of all buffers, inputs included, since updates change their inputs.
  std::vector<std::vector<std::byte>> contents() const {
    std::vector<std::vector<std::byte>> all;
    for (const auto* list : {&in, &out})
      for (const BufferRef& b : *list) {
        auto& bytes = all.emplace_back(b == nullptr ? 0 : static_cast<size_t>(b->bytes()));
        if (!bytes.empty()) std::memcpy(bytes.data(), b->data(), bytes.size());
      }
    return all;
  }

  std::vector<BufferRef> in, out;
  IndexVec<PortId, std::byte*> pointers;

 private:
  static int64_t bytes_of(const Program& p, PortId port) {
    const ValueId v = p.ports[port].value;
    return v.valid() ? p.storages[p.values[v].storage].bytes : 0;
  }
  static BufferRef of_bytes(int64_t bytes) {
    auto* memory = static_cast<std::byte*>(
        ::operator new(static_cast<size_t>(bytes), std::align_val_t(kArenaAlignment)));
    return runtime::Buffer::borrow(
        memory, bytes, [=] { ::operator delete(memory, std::align_val_t(kArenaAlignment)); });
  }
};

Pattern pattern_of(const Plan& plan) { return static_cast<Pattern>(1 + plan.checksum % 3); }

void run_rank(const Plan& plan, const Plan& apart, const Guards& guards, int64_t rank) {
  const auto planned = InlineRank::create(plan, rank, {});
  const auto guarded = InlineRank::create(apart, rank, guards);
  if (planned.status().message() != guarded.status().message())
    fail("one is refused: " + planned.status().message() + "; " + guarded.status().message());
  check_refusal(planned.status());
  if (!planned.ok()) return;
  for (Pattern pattern : {Pattern::kZeros, pattern_of(plan)})
    for (size_t e = 0; e < plan.program.entries.size(); ++e) {
      const Ports one(plan, plan.program.entries[e], pattern, rank);
      const Ports two(plan, plan.program.entries[e], pattern, rank);
      const Status a = (*planned)->run(e, one.pointers), b = (*guarded)->run(e, two.pointers);
      check_refusal(a);
      if (a.message() != b.message() || (a.ok() && one.contents() != two.contents()))
        fail("entry " + std::to_string(e) + " does something else where storages share no memory");
    }
}

void run_entry(VirtualRanks& ranks, const Plan& plan, const ProgramEntry& entry, Pattern pattern) {
  std::vector<Ports> ports;
  for (int64_t r = 0; r < ranks.num_ranks(); ++r) ports.emplace_back(plan, entry, pattern, r);
  std::vector<runtime::Completion> done;
  Status status;
  for (int64_t r = 0; r < ranks.num_ranks() && status.ok(); ++r) {
    Ports& own = ports[static_cast<size_t>(r)];
    auto run = ranks.executor(r).enqueue(entry, own.in, own.out);
    if (run.ok())
      done.push_back(*run);
    else
      status = run.status();
  }
  if (!status.ok())  // ranks that have begun would wait for this one
    for (int64_t r = 0; r < ranks.num_ranks(); ++r) ranks.executor(r).abort();
  for (const auto& run : done)
    if (Status s = run.wait(); !s.ok()) status = s;
  check_refusal(status);
  if (!status.ok()) ranks.reset();
}

void run_ranks(const Plan& apart, const Guards& guards) {
  runtime::RankBackend backend;
  backend.device = [&](int64_t) {
    return std::make_shared<runtime::cpu::CpuDevice>(guarding_allocator(guards));
  };
  const auto ranks =
      VirtualRanks::create(std::make_shared<const Plan>(apart), {.max_in_flight = 2}, backend);
  check_refusal(ranks.status());
  if (!ranks.ok()) return;
  for (Pattern pattern : {Pattern::kZeros, pattern_of(apart)})
    for (const ProgramEntry& entry : (*ranks)->program().entries)
      run_entry(**ranks, apart, entry, pattern);
}

constexpr int64_t kMaxRanks = 8, kMaxElements = 1024, kMaxBytes = 1 << 20;
constexpr size_t kMaxSteps = 48, kMaxValues = 256, kMaxPorts = 64, kMaxEntries = 6;

}  // namespace

bool is_small(const Program& p) {
  int64_t ranks = 1, bytes = p.arena_bytes + p.session_bytes + host_memory_bytes(p);
  for (const Mesh::Axis& a : p.mesh)
    if (a.size > kMaxRanks || (ranks *= a.size) > kMaxRanks) return false;
  if (p.steps.size() > kMaxSteps || p.values.size() > kMaxValues || p.ports.size() > kMaxPorts ||
      p.entries.size() > kMaxEntries || bytes > kMaxBytes)
    return false;
  for (const ProgramStorage& s : p.storages)
    if (s.bytes > kMaxBytes || (bytes += s.bytes) > kMaxBytes) return false;
  for (const ProgramValue& v : p.values) {
    int64_t elements = 1;
    for (int64_t d : v.type.shape)
      if (d > kMaxElements || (elements *= std::max<int64_t>(d, 1)) > kMaxElements) return false;
  }
  return std::ranges::all_of(p.ports,
                             [](const Port& port) { return port.global.bytes() <= kMaxBytes; });
}

void run_plan(const Plan& plan, bool with_threads) {
  Plan apart = plan;
  const Guards guards = move_apart(apart.program);
  if (Status s = verify(apart.program, /*planned=*/true); !s.ok())
    fail("with its storages apart the plan is not sound: " + s.message());
  int64_t ranks = 1;
  for (const Mesh::Axis& a : plan.program.mesh) ranks *= a.size;
  for (int64_t r = 0; r < ranks; ++r) run_rank(plan, apart, guards, r);
  if (with_threads) run_ranks(apart, guards);
}

}  // namespace shw::fuzz
