// ONNX's own node tests (Debian: libonnx-testdata). Every supported operator must give the right
// results on one rank and on two. A document lists the refused cases with their reasons, and it
// must be up to date.
//
// usage: onnx_node_tests FOLDER DOCUMENT [--write | NAME…]     NAME: only these, with their outcome
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "import/file.h"
#include "run_case.h"

namespace shw::testing {
namespace {

constexpr int kSkipped = 77;  // tests/CMakeLists.txt: SKIP_RETURN_CODE

struct Count {
  int passed = 0, sharded = 0, refused = 0, wrong = 0;
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : " ") + w;
  return all;
}

// The text of a reason in a table: on one line, without column separators, and without the names of
// values, so that equal reasons share one row.
std::string cell(std::string text) {
  constexpr size_t kLongName = 24;
  for (size_t begin = text.find('\''); begin != std::string::npos; begin = text.find('\'', begin)) {
    const size_t end = text.find('\'', begin + 1);
    if (end == std::string::npos) break;
    if (end - begin > kLongName) text.replace(begin + 1, end - begin - 1, "…");
    begin = text.find('\'', begin + 1) + 1;
  }
  std::ranges::replace(text, '|', '/');
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Outcome outcome_of(const std::filesystem::path& folder, NodeCase& c) {
  auto read = read_node_case(folder);
  if (!read.ok()) return {Verdict::kRefused, read.status().message()};
  c = std::move(*read);
  return run_case(c);
}

// The document: refused cases, grouped by reason.
std::string document_of(const Count& count,
                        const std::map<std::string, std::vector<std::string>>& why) {
  std::string text =
      "# ONNX node tests\n\n"
      "Written by `onnx_node_tests FOLDER DOCUMENT --write` from the tests of Debian's "
      "`libonnx-testdata` 1.12; the ctest `onnx` "
      "compares.\n\n" +
      std::to_string(count.passed) + " pass on one rank and on two, " +
      std::to_string(count.sharded) + " of them with sharded inputs; " +
      std::to_string(count.refused) +
      " are refused, for these reasons; none is wrong.\n\n| reason | tests |\n|---|---|\n";
  for (const auto& [reason, names] : why) text += "| " + reason + " | " + joined(names) + " |\n";
  return text;
}

int run_named(const std::filesystem::path& folder, int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    NodeCase c;
    const Outcome o = outcome_of(folder / argv[i], c);
    std::printf("%s: %s %s\n", argv[i],
                o.verdict == Verdict::kPassed    ? (o.sharded ? "passed, sharded" : "passed")
                : o.verdict == Verdict::kRefused ? "refused:"
                                                 : "WRONG:",
                o.why.c_str());
  }
  return 0;
}

int compare(const std::string& path, const std::string& text) {
  const auto stored = import::read_file(path);
  if (stored.ok() && std::string(stored->begin(), stored->end()) == text) return 0;
  std::printf("%s does not say what is the case: write it with --write\n", path.c_str());
  return 1;
}

int run_all(const std::filesystem::path& folder, const std::string& document, bool write) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    folders.push_back(entry.path());
  std::ranges::sort(folders);
  Count count;
  std::map<std::string, std::vector<std::string>> refused;
  for (const auto& f : folders) {
    NodeCase c;
    const Outcome o = outcome_of(f, c);
    count.passed += o.verdict == Verdict::kPassed;
    count.sharded += o.verdict == Verdict::kPassed && o.sharded;
    count.refused += o.verdict == Verdict::kRefused;
    count.wrong += o.verdict == Verdict::kWrong;
    if (o.verdict == Verdict::kRefused) refused[cell(o.why)].push_back(f.filename());
    if (o.verdict == Verdict::kWrong)
      std::printf("WRONG %s: %s\n", f.filename().c_str(), o.why.c_str());
  }
  const std::string text = document_of(count, refused);
  std::printf("%s\n%d passed, %d refused, %d wrong\n", text.c_str(), count.passed, count.refused,
              count.wrong);
  if (count.wrong > 0) return 1;
  if (!write) return compare(document, text);
  const Status written =
      import::write_file(document, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return written.ok() ? 0 : 1;
}

}  // namespace
}  // namespace shw::testing

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (!std::filesystem::exists(argv[1])) {
    std::printf("skipped: there are no ONNX node tests at %s (Debian: libonnx-testdata)\n",
                argv[1]);
    return shw::testing::kSkipped;
  }
  const bool write = argc == 4 && std::strcmp(argv[3], "--write") == 0;
  if (argc > 3 && !write) return shw::testing::run_named(argv[1], argc - 3, argv + 3);
  return shw::testing::run_all(argv[1], argv[2], write);
}
