// Parts of the JSON that FX graphs are exported as.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace shw::testing {

inline nlohmann::json tensor(std::vector<int64_t> shape, const char* dtype = "float32") {
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  return {{"shape", shape}, {"stride", stride}, {"dtype", dtype}, {"device", "cpu"}};
}

inline nlohmann::json ref(const char* name) { return {{"n", name}}; }

}  // namespace shw::testing
