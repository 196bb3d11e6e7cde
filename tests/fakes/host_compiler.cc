#include "fakes/host_compiler.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "runtime/cuda/plugin/kernels/sources.h"
#include "support/hash.h"

namespace shw::fakes {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The kernel's name, which follows SHW_KERNEL.
std::string kernel_name(const std::string& text) {
  constexpr std::string_view kBefore = "SHW_KERNEL ";
  const size_t at = text.find(kBefore);
  if (at == std::string::npos) return {};
  return text.substr(at + kBefore.size(), text.find('(', at) - at - kBefore.size());
}

constexpr char kCaller[] = R"(
namespace {
template <class T>
T taken(void* p) {
  if constexpr (std::is_pointer_v<T>) return static_cast<T>(p);
  else return static_cast<T>(reinterpret_cast<long long>(p));
}
template <class... P>
struct Caller {
  static constexpr int kCount = sizeof...(P);
  static constexpr bool kIsPointer[] = {std::is_pointer_v<P>...};
  template <int... I>
  static void call(void (*kernel)(P...), void** pointers, std::integer_sequence<int, I...>) {
    kernel(taken<P>(pointers[I])...);
  }
};
template <class... P>
constexpr Caller<P...> caller_of(void (*)(P...)) { return {}; }
using Of = decltype(caller_of(&KERNEL));
}
#define SHW_EXPORT extern "C" __attribute__((visibility("default")))
SHW_EXPORT const char* shw_fake_name() { return NAME; }
SHW_EXPORT int shw_fake_count() { return Of::kCount; }
SHW_EXPORT bool shw_fake_is_pointer(int p) { return Of::kIsPointer[p]; }
SHW_EXPORT void shw_fake_call(void** pointers) {
  Of::call(&KERNEL, pointers, std::make_integer_sequence<int, Of::kCount>());
}
)";

// Compiles in a temporary folder of its own.
Result<std::string> compile(const std::string& text) {
  std::string folder = fs::temp_directory_path() / "shw_fake_nvrtc_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return internal_error("no folder for the fake compiler");
  for (const auto& header : runtime::cuda::kernel_headers()) {
    const fs::path path = fs::path(folder) / header.name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << header.text;
  }
  const std::string name = kernel_name(text), out = folder + "/kernel.so", log = folder + "/log";
  std::ofstream(folder + "/kernel.cc")
      << "#include \"fakes/shim.h\"\n#include <type_traits>\n#include <utility>\n"
      << text << "#define KERNEL " << name << "\n#define NAME \"" << name << "\"\n"
      << kCaller;
  const std::string command = std::string(SHW_FAKE_COMPILER) +
                              " -std=c++20 -O1 -fPIC -shared -fvisibility=hidden -w "
                              "-ffp-contract=off " SHW_FAKE_FLAGS " -I'" SHW_FAKE_INCLUDE "' -I'" +
                              folder + "' '" + folder + "/kernel.cc' '" + SHW_FAKE_LIBRARY +
                              "' -o '" + out + "' > '" + log + "' 2>&1";
  const bool compiles = std::system(command.c_str()) == 0;
  const std::string bytes = read_file(out), said = read_file(log);
  fs::remove_all(folder);
  if (!compiles) return invalid_argument(said);
  return bytes;
}

}  // namespace

// Each program is compiled once per build of the fakes, since several processes (one for each rank)
// ask for the same programs. A lock file serializes them.
Result<std::string> compile_for_host(const std::string& text) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string all = text;
  for (const auto& header : runtime::cuda::kernel_headers()) all += header.text;
  all += std::to_string(fs::last_write_time(SHW_FAKE_LIBRARY).time_since_epoch().count());
  const fs::path folder = fs::path(SHW_FAKE_LIBRARY).parent_path() / "compiled";
  fs::create_directories(folder);
  const std::string done = folder / std::to_string(hash_bytes(all)), made = done + ".made";
  const int file = ::open((done + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ::flock(file, LOCK_EX) != 0) return internal_error("the fakes' folder is locked");
  Result<std::string> binary =
      fs::exists(done) ? Result<std::string>(read_file(done)) : compile(text);
  if (binary.ok() && !fs::exists(done)) {
    std::ofstream(made, std::ios::binary) << *binary;
    fs::rename(made, done);
  }
  ::close(file);
  return binary;
}

}  // namespace shw::fakes
