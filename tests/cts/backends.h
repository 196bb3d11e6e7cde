// The backends that must conform. A suite is written once and runs on each of them.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/cpu/device.h"

namespace shw::cts {

struct Backend {
  std::string name;
  std::shared_ptr<runtime::Device> (*make)();
};

inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

inline const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = {
      {"cpu",
       []() -> std::shared_ptr<runtime::Device> {
         return std::make_shared<runtime::cpu::CpuDevice>();
       }},
  };
  return all;
}

inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}
#define SHW_CTS(suite) \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::ValuesIn(backends()), backend_name)

}  // namespace shw::cts
