// Reads and writes whole files; errors name the file.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace shw::import {

Result<std::vector<uint8_t>> read_file(const std::string& path);
Status write_file(const std::string& path, std::span<const uint8_t> bytes);
Status write_file(const std::string& path, std::string_view text);
// Checks that the file's folder exists, before long work. "" passes.
Status check_folder_of(const std::string& path);

}  // namespace shw::import
