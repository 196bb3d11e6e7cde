// Whole files in and out, with errors that name the file.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/status.h"

namespace shw::import {

Result<std::vector<uint8_t>> read_file(const std::string& path);
Status write_file(const std::string& path, std::span<const uint8_t> bytes);
// Whether a file could be there, to ask before long work. "" can.
Status check_folder_of(const std::string& path);

}  // namespace shw::import
