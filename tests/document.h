// Documents that a test writes, and compares with what it would write.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace shw::testing {

// `path`: from the root of the source. It is written anew where the environment has `variable`.
inline void expect_document(const std::string& path, const char* variable,
                            const std::string& text) {
  const std::string from_root = SHW_TEST_DATA "/../../" + path;
  if (std::getenv(variable) != nullptr) std::ofstream(from_root) << text;
  std::ifstream file(from_root);
  std::ostringstream there;
  there << file.rdbuf();
  EXPECT_EQ(there.str(), text);
}

}  // namespace shw::testing
