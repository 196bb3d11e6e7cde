#include "import/json_file.h"

#include "import/file.h"

namespace shw::import {

Result<nlohmann::json> read_json_file(const std::string& path, uint64_t max_text_bytes) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  SHW_ASSIGN_OR_RETURN(JsonTree tree, parse_json_bytes(bytes, path, max_text_bytes));
  return std::move(tree.root);
}

}  // namespace shw::import
