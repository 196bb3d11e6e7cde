// The backends of the conformance tests. Each suite is written once and runs on every backend.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/virtual_ranks.h"

namespace shw::cts {

// A case that a backend cannot pass, and the reason. `test`: "Suite.*" or "Suite.Case".
struct Exemption {
  std::string test, reason;
};

struct Backend {
  std::string name;
  std::shared_ptr<runtime::Device> (*make)();
  // Makes the channels of a rank on such a device from its channels in host memory.
  std::unique_ptr<runtime::ChannelProvider> (*channels)(
      std::unique_ptr<runtime::ChannelProvider> in_host_memory, runtime::Device& device);
  std::vector<Exemption> exemptions = {};
  bool graphs = false;  // executors launch graphs where they can

  runtime::RankBackend ranks() const {
    return {[make = make](int64_t) { return make(); }, channels};
  }
};

inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

const std::vector<Backend>& backends();
// The same backends. Those that can capture graphs appear a second time, with `graphs`.
std::vector<Backend> backends_of_executors();

// Why the running case does not apply to the backend; empty if it applies.
std::string exemption_of(const Backend& backend);

// The base of all suites. It skips the cases from which the backend is exempt.
class BackendTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    const std::string reason = exemption_of(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  const runtime::Capabilities& can() const { return device_->can(); }

  std::shared_ptr<runtime::Device> device_ = GetParam().make();
};

inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}
#define SHW_CTS(suite) \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(backends()), backend_name)

#define SHW_CTS_EXECUTORS(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(backends_of_executors()), \
                           backend_name)

// The reason for skipping a case.
inline constexpr char kOtherSize[] = "this MPI job has another number of ranks";

}  // namespace shw::cts
