// Compares generated documents with the files in the source tree, or rewrites those files.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace shw::testing {

// Checks that the file at `path`, relative to the source root, contains `text`. If the environment
// variable `variable` is set, the file is written first.
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
