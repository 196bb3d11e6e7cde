// parse_json_bytes on any bytes, which may be gzipped: a status, or a document of no more text than
// the limit allows.
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
  } else if (tree->root.size() > kLimit) {  // an element takes a byte of text at least
    std::abort();
  }
  return 0;
}
