// Events as seen from the host.
#include <thread>

#include "cts/hal_test.h"

namespace shw::cts {
namespace {

using std::chrono::milliseconds;

class EventTest : public HalTest {};

TEST_P(EventTest, WithoutARecordHoldsNobody) {
  auto e = event();
  EXPECT_TRUE(e->query());
  EXPECT_TRUE(e->wait_for(milliseconds(0)));
  auto s = stream();
  s->wait(*e);
  EXPECT_TRUE(s->synchronize().ok());
}

TEST_P(EventTest, TellsWhenItIsReached) {
  Gate gate;
  Work blocked([&] { gate.wait(); });
  auto e = event();
  auto s = stream();
  s->host(blocked, nullptr);
  s->record(*e);
  s->flush();
  EXPECT_FALSE(e->query());
  EXPECT_FALSE(e->wait_for(milliseconds(1)));
  std::thread waiting([&] { EXPECT_TRUE(e->wait_for(std::chrono::hours(1))); });
  gate.open();
  waiting.join();
  EXPECT_TRUE(e->query());
}

TEST_P(EventTest, IsReachedAgainAfterEachRecord) {
  auto e = event();
  auto s = stream();
  for (int i = 0; i < 100; ++i) {
    s->record(*e);
    s->flush();
    EXPECT_TRUE(e->wait_for(std::chrono::hours(1)));
  }
  EXPECT_TRUE(s->synchronize().ok());
}

TEST_P(EventTest, MeasuresTime) {
  Work slow([] { std::this_thread::sleep_for(milliseconds(3)); });
  auto begin = event(true), end = event(true), plain = event();
  auto s = stream();
  EXPECT_EQ(end->time_since(*begin).status().code(), Code::kFailedPrecondition);
  s->record(*begin);
  s->record(*plain);
  s->host(slow, nullptr);
  s->record(*end);
  ASSERT_TRUE(s->synchronize().ok());
  const auto time = end->time_since(*begin);
  ASSERT_TRUE(time.ok()) << time.status().message();
  EXPECT_GE(*time, milliseconds(3));
  EXPECT_LT(*time, std::chrono::minutes(1));
  EXPECT_EQ(end->time_since(*plain).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(plain->time_since(*begin).status().code(), Code::kInvalidArgument);
}

SHW_CTS(EventTest);

}  // namespace
}  // namespace shw::cts
