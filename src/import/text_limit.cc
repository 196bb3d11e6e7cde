#include "import/text_limit.h"

namespace shw::import {

Status check_text_size(const std::string& what, uint64_t bytes, uint64_t max_text_bytes) {
  if (bytes <= max_text_bytes) return {};
  return Status(Code::kResourceExhausted, what + " is " + std::to_string(bytes) +
                                              " bytes of text, more than the limit of " +
                                              std::to_string(max_text_bytes));
}

}  // namespace shw::import
