#include "import/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace shw::import {
namespace {

struct Close {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string cause(const std::string& what, const std::string& path) {
  return what + " '" + path + "': " + std::strerror(errno);
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return Status(Code::kNotFound, cause("cannot open", path));
  std::vector<uint8_t> bytes;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(file.get());
    if (size > 0) bytes.reserve(static_cast<size_t>(size));
    std::rewind(file.get());
  }
  uint8_t block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, file.get())) > 0;)
    bytes.insert(bytes.end(), block, block + n);
  if (std::ferror(file.get())) return Status(Code::kUnavailable, cause("cannot read", path));
  return bytes;
}

Status write_file(const std::string& path, std::span<const uint8_t> bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) return Status(Code::kUnavailable, cause("cannot create", path));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fclose(file.release()) != 0)
    return Status(Code::kUnavailable, cause("cannot write", path));
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Status check_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
  return Status(Code::kNotFound,
                "cannot create '" + path + "': there is no folder '" + folder.string() + "'");
}

}  // namespace shw::import
