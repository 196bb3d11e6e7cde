// The on-disk cache of compiled programs: later devices find them, and damaged files do no harm.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "cuda/fakes.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::runtime::cuda {
namespace {

namespace fs = std::filesystem;
using testing::fake_calls;
using testing::Injected;

constexpr unsigned kTwo = programs(DeviceProgram::pointwise, DeviceProgram::reduction);

class CudaCache : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // Loads two programs and returns how many of them were compiled, or -1 on an error.
  int compiled(int index = 0) const { return compiled_in(folder_, index); }
  static int compiled_in(const std::string& folder, int index = 0) {
    const int before = fake_calls("nvrtcCompileProgram");
    auto context = Context::open({.index = index, .folder = SHW_FAKES, .kernel_cache = folder});
    EXPECT_TRUE(context.ok()) << context.status().message();
    if (!context.ok()) return -1;
    const Status status = (*context)->load(kTwo);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? fake_calls("nvrtcCompileProgram") - before : -1;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }

  const std::string folder_ =
      fs::temp_directory_path() / ("shw_cache_" + std::to_string(::getpid())) / "kernels";
};

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(CudaCache, ALaterDeviceCompilesNothing) {
  EXPECT_EQ(compiled(), 2);
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(compiled(), 0);
  EXPECT_EQ(compiled(1), 0) << "of the same architecture";
  EXPECT_EQ(compiled_in(""), 2) << "without a folder";
}

TEST_F(CudaCache, GeneratedKernelsAreKeptToo) {
  const std::string text =
      "#include \"fused.cuh\"\nSHW_KERNEL shw_test(void* p0) { if (p0 != nullptr) return; }\n";
  for (const int compiles : {1, 0}) {
    auto context = Context::open({.folder = SHW_FAKES, .kernel_cache = folder_});
    ASSERT_TRUE(context.ok()) << context.status().message();
    const int before = fake_calls("nvrtcCompileProgram");
    const auto function = (*context)->load_source(text, "shw_test");
    ASSERT_TRUE(function.ok()) << function.status().message();
    EXPECT_EQ(fake_calls("nvrtcCompileProgram") - before, compiles);
  }
}

TEST_F(CudaCache, AnotherArchitectureOrCompilerIsAnotherProgram) {
  EXPECT_EQ(compiled(), 2);
  {
    const Injected other("compute capability", 8);
    EXPECT_EQ(compiled(), 2);
    EXPECT_EQ(compiled(), 0);
  }
  {
    const Injected other("nvrtcVersion", 14);
    EXPECT_EQ(compiled(), 2);
  }
  EXPECT_EQ(files().size(), 6u);
  EXPECT_EQ(compiled(), 0);
}

// Damaged files: truncated at any length, too long, with any bit flipped, or with another program.
TEST_F(CudaCache, WhatIsDamagedIsCompiledAnew) {
  ASSERT_EQ(compiled(), 2);
  const std::vector<fs::path> paths = files();
  const std::string good = bytes_of(paths[0]);
  std::vector<std::string> bad = {"", good + "x", bytes_of(paths[1]), std::string(4096, 'x')};
  for (size_t size = 0; size < good.size(); size += 5) bad.push_back(good.substr(0, size));
  for (size_t at = 0; at < good.size(); at += 3) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ (1 << at % 8));
  }
  for (const std::string& bytes : bad) {
    write(paths[0], bytes);
    ASSERT_EQ(compiled(), 1) << bytes.size() << " bytes";
    ASSERT_EQ(bytes_of(paths[0]), good) << "it is repaired";
  }
  EXPECT_EQ(files().size(), 2u) << "nothing is left over";
}

TEST_F(CudaCache, WhatTheDriverDoesNotTakeIsCompiledAnew) {
  ASSERT_EQ(compiled(), 2);
  auto context = Context::open({.folder = SHW_FAKES, .kernel_cache = folder_});
  ASSERT_TRUE(context.ok());
  const int before = fake_calls("nvrtcCompileProgram");
  // The driver refuses the cached program and again the newly compiled one, which is an error.
  const Injected refused("cuModuleLoadData", 209);
  EXPECT_FALSE((*context)->load(kTwo).ok());
  EXPECT_EQ(fake_calls("nvrtcCompileProgram") - before, 1);
}

// No file can be created in these folders, not even by root.
TEST_F(CudaCache, AFolderThatCannotBeWrittenToIsNoError) {
  EXPECT_EQ(compiled_in("/proc/self/fdinfo"), 2);
  EXPECT_EQ(compiled_in("/proc/self/fdinfo"), 2);
  EXPECT_EQ(compiled_in("/proc/no_such_folder/kernels"), 2);
}

TEST_F(CudaCache, WhatIsNoFolderIsAnArgument) {
  fs::create_directories(fs::path(folder_).parent_path());
  write(folder_, "a file");
  const Status status = Context::open({.folder = SHW_FAKES, .kernel_cache = folder_}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("'" + folder_ + "' is not a folder"), std::string::npos)
      << status.message();
}

// The processes of the next test run this test.
TEST_F(CudaCache, OneOfSeveralProcesses) {
  const char* folder = std::getenv("SHW_TEST_CACHE_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "a part of SeveralProcessesMayUseItAtOnce";
  for (int round = 0; round < 20; ++round) ASSERT_GE(compiled_in(folder), 0);
}
TEST_F(CudaCache, SeveralProcessesMayUseItAtOnce) {
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/exe";
  // Each process runs only that test, even if this process runs one shard of the suite.
  std::string command =
      "unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX; "
      "export SHW_TEST_CACHE_FOLDER='" +
      folder_ + "'; for i in 1 2 3 4 5 6; do " + self +
      " --gtest_filter=CudaCache.OneOfSeveralProcesses >&2 & " +
      "all=\"$all $!\"; done; for p in $all; do wait $p || exit 1; done";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(compiled(), 0);
  EXPECT_EQ(files().size(), 2u) << "nothing is left over";
}

// Many threads use the cache at once. A file has a unique temporary name until it is complete.
TEST_F(CudaCache, ManyMayUseItAtOnce) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        EXPECT_GE(compiled(t), 0);
        std::error_code error;
        if (t % 4 == 0)  // another process may delete or damage files
          for (const auto& entry : fs::directory_iterator(folder_, error)) {
            if (entry.path().extension() != ".swcubin") continue;
            if (t == 0)
              fs::remove(entry.path(), error);
            else
              write(entry.path(), "nonsense");
          }
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_GE(compiled(), 0);
  EXPECT_EQ(compiled(), 0);
  EXPECT_EQ(files().size(), 2u);
}

}  // namespace
}  // namespace shw::runtime::cuda
