// The steady state allocates nothing, on any thread: operator new of this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace {

std::atomic<bool> g_counting{false};
std::atomic<int64_t> g_allocations{0};

void* counted(size_t bytes, size_t alignment) {
  if (g_counting.load(std::memory_order_relaxed)) ++g_allocations;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* counted_or_throw(size_t bytes, size_t alignment) {
  void* p = counted(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

// The array forms call these.
void* operator new(size_t n) { return counted_or_throw(n, kDefault); }
void* operator new(size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<size_t>(a));
}
void* operator new(size_t n, const std::nothrow_t&) noexcept { return counted(n, kDefault); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, static_cast<size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

namespace shw::runtime {
namespace {

using shw::testing::ProgramBuilder;

TEST(Allocation, AThousandRunsAllocateNothing) {
  ProgramBuilder b({{"dp", 2}, {"tp", 2}});
  const Layout x_layout = *parse_layout("S(0)R", 2), w_layout = *parse_layout("RS(1)", 2);
  const ValueId x = b.input("x", Dtype::kF32, {8, 16}, x_layout);
  const ValueId w = b.input("w", Dtype::kF32, {16, 16}, w_layout);
  const ValueId h = b.compute("mm", {x, w}, row_major(Dtype::kF32, {4, 8}));
  const ValueId half = b.compute("dtype_cast", {h}, row_major(Dtype::kBF16, {4, 8}));
  const ValueId g = b.collective(CollectiveKind::kAllGather, {1}, half, {2, 4, 8});
  Attrs equation;
  equation.set(AttrKey::kEquation, std::string("gmn,gnk->gmk"));
  const ValueId turned =
      b.view(g, {{2, 8, 4}, {32, 1, 8}, Dtype::kBF16});  // packed before it is multiplied
  const ValueId e = b.compute("einsum", {g, turned}, row_major(Dtype::kF32, {2, 4, 4}), equation);
  const ValueId s = b.compute("exp", {e}, row_major(Dtype::kF32, {2, 4, 4}));
  const ValueId r = b.collective(CollectiveKind::kReduceScatter, {1}, s, {4, 4});
  const ValueId sum = b.compute("sum", {r}, row_major(Dtype::kF32, {}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0, 1}, sum, {});
  b.output("y", all, {}, Layout{});
  auto made = VirtualRanks::create(b.finish());
  ASSERT_TRUE(made.ok()) << made.status().message();
  VirtualRanks& job = **made;

  const size_t ranks = static_cast<size_t>(job.num_ranks());
  const ProgramEntry& entry = job.program().entries[0];
  std::vector<std::vector<BufferRef>> in(ranks), out(ranks);
  std::vector<std::vector<float>> memory(ranks, std::vector<float>(1024));
  for (size_t k = 0; k < ranks; ++k) {
    float* p = memory[k].data();
    in[k] = {Buffer::borrow(p, 64 * 4, {}), Buffer::borrow(p + 64, 128 * 4, {})};
    out[k] = {Buffer::borrow(p + 512, 4, {})};
  }
  std::vector<Completion> last(ranks);
  const auto run_steps = [&](int count) {
    for (int i = 0; i < count; ++i)
      for (size_t k = 0; k < ranks; ++k) {
        auto done = job.executor(static_cast<int64_t>(k)).enqueue(entry, in[k], out[k]);
        ASSERT_TRUE(done.ok()) << done.status().message();
        last[k] = *done;
      }
    for (const Completion& c : last) ASSERT_TRUE(c.wait().ok()) << c.wait().message();
  };
  run_steps(10);
  g_allocations = 0;
  g_counting = true;
  run_steps(1000);
  g_counting = false;
  EXPECT_EQ(g_allocations, 0);
}

TEST(Allocation, IsCounted) {
  g_allocations = 0;
  g_counting = true;
  std::vector<int>* volatile v = new std::vector<int>(100);
  g_counting = false;
  delete v;
  EXPECT_EQ(g_allocations, 2);
}

}  // namespace
}  // namespace shw::runtime
