#include "import/safetensors.h"

#include <gtest/gtest.h>

#include <string>

namespace shw::import {
namespace {

std::string bytes_of(const std::vector<uint8_t>& file) { return {file.begin(), file.end()}; }

TEST(Safetensors, WritesAndReadsTensorsOfEveryDtype) {
  TensorFile tensors;
  for (int number = 1; number <= 13; ++number) {
    const Dtype dtype = *dtype_from_number(number);
    StoredTensor t{row_major(dtype, {3, 5}), {}};
    for (int64_t i = 0; i < t.type.bytes(); ++i)
      t.bytes.push_back(static_cast<uint8_t>(i * 17 + number));
    tensors.emplace(std::string("of ") + std::string(dtype_name(dtype)), std::move(t));
  }
  const std::vector<uint8_t> file = safetensors_bytes(tensors);
  const auto read = parse_safetensors(file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read->at(name).type, tensor.type) << name;
    EXPECT_EQ(read->at(name).bytes, tensor.bytes) << name;
  }
  // The dtype names are those of the safetensors format.
  EXPECT_NE(bytes_of(file).find(R"("of f8e4m3fn":{"dtype":"F8_E4M3")"), std::string::npos);
  EXPECT_NE(bytes_of(file).find(R"("of f8e5m2":{"dtype":"F8_E5M2")"), std::string::npos);
}

TEST(Safetensors, RefusesDtypesThatItDoesNotHave) {
  const std::string header = R"({"x":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[0,1]}})";
  std::vector<uint8_t> file(8);
  file[0] = static_cast<uint8_t>(header.size());
  file.insert(file.end(), header.begin(), header.end());
  file.push_back(0);
  EXPECT_EQ(parse_safetensors(file).status().message(), "tensor 'x': unknown dtype 'F8_E8M0'");
}

}  // namespace
}  // namespace shw::import
