// Memory and copies, both immediate and stream-ordered.
#include <algorithm>
#include <cstring>

#include "cts/hal_test.h"

namespace shw::cts {
namespace {

class MemoryTest : public HalTest {};

TEST_P(MemoryTest, IsAligned) {
  for (int64_t bytes : {0, 1, 63, 64, 4097})
    for (int64_t alignment : {8, 64, 256, 4096})
      for (MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kHost, MemoryKind::kRegistered}) {
        const MemorySpec spec{bytes, alignment, kind};
        auto memory = device_->allocate(spec);
        ASSERT_TRUE(memory.ok());
        EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % static_cast<uintptr_t>(alignment), 0u);
        device_->free(*memory, spec);
      }
}

TEST_P(MemoryTest, DoesNotOverlap) {
  const MemorySpec spec{100, 64};
  std::vector<uintptr_t> addresses;
  for (int i = 0; i < 50; ++i)
    addresses.push_back(reinterpret_cast<uintptr_t>(*device_->allocate(spec)));
  std::vector<uintptr_t> sorted = addresses;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(sorted[i], sorted[i - 1] + 100);
  for (uintptr_t a : addresses) device_->free(reinterpret_cast<void*>(a), spec);
}

TEST_P(MemoryTest, IsCopiedThereAndBack) {
  for (int64_t bytes : {0, 1, 63, 4097}) {
    const MemorySpec spec{bytes};
    void* memory = *device_->allocate(spec);
    std::vector<std::byte> in(static_cast<size_t>(bytes), std::byte{0x5a}), out(in.size());
    EXPECT_TRUE(device_->copy(memory, in.data(), bytes, CopyKind::kHostToDevice).ok());
    EXPECT_TRUE(device_->copy(out.data(), memory, bytes, CopyKind::kDeviceToHost).ok());
    EXPECT_EQ(in, out);
    device_->free(memory, spec);
  }
}

TEST_P(MemoryTest, OfTheHostIsTheHosts) {
  const MemorySpec spec{100, 64, MemoryKind::kHost};
  void* memory = *device_->allocate(spec);
  std::memset(memory, 1, 100);
  EXPECT_EQ(static_cast<char*>(memory)[99], 1);
  device_->free(memory, spec);
}

TEST_P(MemoryTest, ThatIsImpossibleIsAnError) {
  const auto memory = device_->allocate({int64_t{1} << 60});
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(stream()->allocate({int64_t{1} << 60}).status().code(), Code::kResourceExhausted);
}

// Allocates far more than the device has. This works only if freed memory is reused in time.
TEST_P(MemoryTest, OfAStreamIsGivenBack) {
  auto s = stream();
  for (int i = 0; i < 20; ++i) {
    const MemorySpec spec{8 << 20};
    auto memory = s->allocate(spec);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    s->free(*memory, spec);
    if (i % 4 == 3) {
      ASSERT_TRUE(s->synchronize().ok());
    }
  }
  EXPECT_TRUE(s->synchronize().ok());
}

SHW_CTS(MemoryTest);

class CopyTest : public HalTest {};

// Two numbers in pinned host memory, which stream-ordered copies can use.
class Pinned {
 public:
  Pinned(runtime::Device& device, std::pair<float, float> values) : device_(device) {
    data_ = static_cast<float*>(*device.allocate(kSpec));
    data_[0] = values.first;
    data_[1] = values.second;
  }
  ~Pinned() { device_.free(data_, kSpec); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  float& operator[](size_t i) const { return data_[i]; }

 private:
  static constexpr MemorySpec kSpec{8, 64, MemoryKind::kHost};
  runtime::Device& device_;
  float* data_ = nullptr;
};

TEST_P(CopyTest, GoesWithItsStream) {
  const std::vector<float> in{1, 2, 3, 4};
  std::vector<float> out(4);
  auto s = stream();
  const MemorySpec spec{16};
  void* a = *s->allocate(spec);
  void* b = *s->allocate(spec);
  s->copy(a, in.data(), 16, CopyKind::kHostToDevice);
  s->copy(b, a, 16, CopyKind::kDeviceToDevice);
  s->copy(out.data(), b, 16, CopyKind::kDeviceToHost);
  s->free(a, spec);
  s->free(b, spec);
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(out, in);
}

TEST_P(CopyTest, WaitsForTheWorkBefore) {
  const Pinned in(*device_, {0, 0}), out(*device_, {0, 0});
  Gate gate;
  Work write([&] {
    gate.wait();
    in[0] = 5;
    in[1] = 6;
  });
  auto e = event();
  auto s = stream(), other = stream();
  void* memory = upload({0, 0});
  s->host(write, nullptr);
  s->copy(memory, &in[0], 8, CopyKind::kHostToDevice);
  s->record(*e);
  s->flush();
  other->wait(*e);
  other->copy(&out[0], memory, 8, CopyKind::kDeviceToHost);
  other->flush();
  gate.open();
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(out[1], 6);
}

TEST_P(CopyTest, OfNothingIsNothing) {
  auto s = stream();
  s->copy(nullptr, nullptr, 0, CopyKind::kHostToDevice);
  s->fill(nullptr, std::byte{1}, 0);
  EXPECT_TRUE(s->synchronize().ok());
}

TEST_P(CopyTest, FillsBytes) {
  void* memory = upload({1, 2, 3});
  auto s = stream();
  s->fill(memory, std::byte{0}, 8);
  ASSERT_TRUE(s->synchronize().ok());
  EXPECT_EQ(download(memory, 3), (std::vector<float>{0, 0, 3}));
}

SHW_CTS(CopyTest);

}  // namespace
}  // namespace shw::cts
