// Replays a corpus through a fuzz target without libFuzzer. Each argument is a file or a folder of
// files. ctest runs it, so that every stored input is tested with every compiler and sanitizer.
// Each input is also tested truncated. Its bytes are in a block of exactly their size.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

void try_bytes(const std::vector<char>& bytes, size_t size) {
  // so that ASan detects a read beyond the end
  const auto block = std::make_unique<uint8_t[]>(size);
  std::copy_n(bytes.begin(), size, block.get());
  LLVMFuzzerTestOneInput(block.get(), size);
}

bool replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  try_bytes(bytes, bytes.size());
  constexpr size_t kCuts = 16;
  for (size_t i = 0; i < kCuts; ++i) try_bytes(bytes, bytes.size() * i / kCuts);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& f : files)
    if (!replay(f)) return 1;
  std::printf("%zu files replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
