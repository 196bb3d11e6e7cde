// parse_json_bytes on any bytes, which may be gzipped, must return a status, or a document whose
// text does not exceed the limit.
#include <cstdint>
#include <cstdlib>

#include "import/json_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 1 << 16;
  const auto tree = shw::import::parse_json_bytes({data, size}, "the input", kLimit);
  if (!tree.ok()) {
    const shw::Code code = tree.status().code();
    const bool expected = code == shw::Code::kDataLoss || code == shw::Code::kResourceExhausted ||
                          code == shw::Code::kInvalidArgument;
    if (!expected) std::abort();
  } else if (tree->root.size() > kLimit) {  // an element needs at least one byte of text
    std::abort();
  }
  return 0;
}
