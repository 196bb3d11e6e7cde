#include "runtime/cuda/plugin/program_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "support/hash.h"

namespace shw::runtime::cuda {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kOtherSeed = 0x5357;

// The beginning of a file. The binary follows, and nothing comes after it.
struct Header {
  char magic[8];
  uint64_t program_size, program_hash;  // with another seed than in the file's name
  uint64_t binary_size, binary_hash;
};
constexpr char kMagic[8] = {'S', 'W', 'C', 'U', 'B', 'I', 'N', '1'};

Header header_of(const std::string& program, const std::string& binary) {
  Header header{
      {}, program.size(), hash_bytes(program, kOtherSeed), binary.size(), hash_bytes(binary)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return header;
}

// A suffix that no other process or thread is using.
std::string own_suffix() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const uint64_t words[] = {static_cast<uint64_t>(::getpid()), static_cast<uint64_t>(now),
                            static_cast<uint64_t>(std::random_device()())};
  return "." + std::to_string(hash_bytes(words, sizeof words));
}

// Returns whether all bytes were written.
bool write_all(int file, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

Result<ProgramCache> ProgramCache::open(const std::string& folder) {
  if (folder.empty()) return ProgramCache();
  std::error_code error;
  fs::create_directories(folder, error);
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return invalid_argument("the cache of kernels '" + folder + "' is not a folder");
  return ProgramCache(folder);
}

std::string ProgramCache::path_of(const std::string& program) const {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx.swcubin",
                static_cast<unsigned long long>(hash_bytes(program)));
  return fs::path(folder_) / name;
}

std::optional<std::string> ProgramCache::find(const std::string& program) const {
  if (folder_.empty()) return {};
  std::ifstream file(path_of(program), std::ios::binary);
  if (!file) return {};
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < sizeof(Header)) return {};
  const std::string binary = bytes.substr(sizeof(Header));
  const Header want = header_of(program, binary);
  if (std::memcmp(bytes.data(), &want, sizeof want) != 0) return {};
  return binary;
}

void ProgramCache::keep(const std::string& program, const std::string& binary) const {
  if (folder_.empty()) return;
  const std::string path = path_of(program), made = path + own_suffix();
  const int file = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  const Header header = header_of(program, binary);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  const bool is_whole = write_all(file, bytes += binary);
  if (::close(file) != 0 || !is_whole || std::rename(made.c_str(), path.c_str()) != 0)
    ::unlink(made.c_str());
}

}  // namespace shw::runtime::cuda
