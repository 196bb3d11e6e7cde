// Parsed line by line: "#" lines describe the run and the columns, lines that begin with two
// integers are results, everything else is output of other programs.
#include "import/nccl_tests.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "support/stable_sort.h"

namespace shw::import {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50;

struct Name {
  std::string_view program, collective;
};
constexpr Name kPrograms[] = {{"all_gather_perf", "all_gather"},
                              {"reduce_scatter_perf", "reduce_scatter"},
                              {"all_reduce_perf", "all_reduce"},
                              {"alltoall_perf", "all_to_all"},
                              {"sendrecv_perf", "collective_permute"}};

struct Type {
  std::string_view name;
  int64_t bytes;
};
constexpr Type kTypes[] = {{"int8", 1},     {"uint8", 1},    {"f8e4m3", 1}, {"f8e5m2", 1},
                           {"fp8_e4m3", 1}, {"fp8_e5m2", 1}, {"half", 2},   {"bfloat16", 2},
                           {"int32", 4},    {"uint32", 4},   {"float", 4},  {"int64", 8},
                           {"uint64", 8},   {"double", 8}};

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlank = " \t\r";
  for (size_t at = line.find_first_not_of(kBlank); at != line.npos;) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return words;
}

template <class T>
std::optional<T> number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// mpirun --tag-output prefixes every line with "[1,0]<stdout>:".
std::string_view without_tag(std::string_view line) {
  constexpr std::string_view kTag = "<stdout>:";
  const size_t at = line.find(kTag);
  return line.starts_with('[') && at < 32 ? line.substr(at + kTag.size()) : line;
}

class Parser {
 public:
  explicit Parser(std::string_view collective) : given_(collective) {}

  Status read(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++line_) {
      const size_t end = std::min(text.find('\n', at), text.size());
      SHW_RETURN_IF_ERROR(read_line(without_tag(text.substr(at, end - at))));
      at = end + 1;
    }
    SHW_RETURN_IF_ERROR(finish_run());
    if (runs_.empty())
      return invalid_argument("no results of nccl-tests: no line has a size, a count and a time");
    return {};
  }
  std::vector<NcclTestRun> take() { return std::move(runs_); }

 private:
  struct Row {
    int64_t bytes, count;
    std::string type, redop, root;
    double us;
  };

  Status error(const std::string& what) const {
    return invalid_argument("line " + std::to_string(line_) + ": " + what);
  }

  Status read_line(std::string_view line) {
    const std::vector<std::string_view> words = split(line);
    if (words.empty()) return {};
    if (line.find("Test NCCL failure") != line.npos || line.find("Test failure") != line.npos)
      return error("the test failed: " + std::string(line));
    if (words[0] == "#") return read_comment(words);
    if (number<int64_t>(words[0]) && (words.size() == 1 || number<int64_t>(words[1])))
      return read_row(words);
    // A shell prompt or a job log: it may name the program that runs next.
    return note_program(line);
  }

  Status read_comment(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return {};
    if (words[1] == "Collective" || words[1] == "nThread") {
      if (!rows_.empty() || words[1] == "nThread") SHW_RETURN_IF_ERROR(finish_run());
      if (words[1] == "Collective" && words.size() > 4 && words[3] == "starting:")
        program_ = words[4];
      if (run_line_ == 0) run_line_ = line_;
      return {};
    }
    if (words[1] == "Rank") return read_rank(words);
    if (words[1] == "size") return read_header(words);
    if (words[1] == "Out" && std::find(words.begin(), words.end(), "FAILED") != words.end())
      return error("results were out of bounds");
    return {};
  }

  // "#  Rank  0 Group  0 Pid  12 on HOST device  0 [0x0f] NVIDIA A100"
  Status read_rank(const std::vector<std::string_view>& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    const auto rank = words.size() > 2 ? number<int64_t>(words[2]) : std::nullopt;
    if (!rank || on == words.end() || std::next(on) == words.end())
      return error("a rank without its number or its host");
    if (!ranks_.insert(*rank).second)
      return error("rank " + std::to_string(*rank) +
                   " stands twice: these are several runs in one (nccl-tests built without MPI)");
    hosts_.insert(std::string(*std::next(on)));
    return {};
  }

  // "#  size  count  type  redop  [root]  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"
  Status read_header(const std::vector<std::string_view>& words) {
    columns_.assign(words.begin() + 1, words.end());
    return {};
  }
  std::string_view cell(const std::vector<std::string_view>& words, std::string_view name,
                        int which) const {
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == name && which-- == 0) return words[i];
    return {};
  }

  Status read_row(const std::vector<std::string_view>& words) {
    if (columns_.empty()) return error("results before the header that names their columns");
    if (words.size() != columns_.size())
      return error("results in " + std::to_string(words.size()) +
                   " columns, where the header has " + std::to_string(columns_.size()));
    const auto bytes = number<int64_t>(cell(words, "size", 0));
    const auto count = number<int64_t>(cell(words, "count", 0));
    if (!bytes || !count || *bytes < 0 || *bytes > kMaxBytes || *count < 0)
      return error("size or count is not a number of bytes and elements");
    for (int i = 0; i < 2; ++i)
      if (const auto wrong = number<double>(cell(words, "#wrong", i)); wrong && *wrong != 0)
        return error("the collective computed wrong values");
    double us = 0;
    for (int i = 0; i < 2 && us == 0; ++i) {
      const std::string_view time = cell(words, "time", i);
      if (time.empty() || time == "N/A") continue;
      const auto value = number<double>(time);
      if (!value || !(*value > 0) || !(*value < 1e12))
        return error("time '" + std::string(time) + "' is not a number of µs");
      us = *value;
    }
    if (us == 0) return error("no time is printed");
    if (*bytes == 0) return {};  // sizes too small to be divided among the ranks
    rows_.push_back({*bytes, *count, std::string(cell(words, "type", 0)),
                     std::string(cell(words, "redop", 0)), std::string(cell(words, "root", 0)),
                     us});
    return {};
  }

  // "./build/all_gather_perf -b 8 …"
  Status note_program(std::string_view line) {
    const size_t end = line.find("_perf");
    if (end == line.npos) return {};
    size_t begin = end;
    while (begin > 0 && (std::islower(static_cast<unsigned char>(line[begin - 1])) != 0 ||
                         line[begin - 1] == '_'))
      --begin;
    if (!rows_.empty()) SHW_RETURN_IF_ERROR(finish_run());
    program_ = std::string(line.substr(begin, end - begin)) + "_perf";
    return {};
  }

  // The collective: as printed, as given by the caller, or, if unique, as implied by the columns.
  // An all-gather and an all-to-all look alike.
  Result<std::string> collective(int64_t ranks) const {
    for (const Name& name : kPrograms)
      if (program_.starts_with(name.program)) return std::string(name.collective);
    if (!program_.empty()) return error(program_ + " measures no collective that is planned with");
    if (!given_.empty()) return std::string(given_);
    const Row& last = rows_.back();
    const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const Type& t) { return t.name == last.type; });
    if (type == std::end(kTypes))
      return error("unknown type '" + last.type + "', and no line says which collective ran");
    if (!last.root.empty() && last.root != "-1")
      return error("a collective with a root is none that is planned with");
    const bool whole = last.count == last.bytes / type->bytes;
    if (last.redop != "none" && whole) return std::string("all_reduce");
    if (last.redop != "none" && last.count == last.bytes / type->bytes / ranks)
      return std::string("reduce_scatter");
    return error(
        "no line says which collective ran: give it as all_gather=FILE or all_to_all=FILE");
  }

  Status finish_run() {
    if (!rows_.empty()) {
      const auto ranks = static_cast<int64_t>(ranks_.size());
      const auto nodes = static_cast<int64_t>(hosts_.size());
      if (ranks < 2) return error("the results end, and no two ranks were named that they are of");
      if (ranks % nodes != 0)
        return error(std::to_string(ranks) + " ranks on " + std::to_string(nodes) +
                     " hosts: not as many on each");
      SHW_ASSIGN_OR_RETURN(std::string name, collective(ranks));
      NcclTestRun& run = runs_.emplace_back();
      run = {.collective = std::move(name),
             .nodes = nodes,
             .devices_per_node = ranks / nodes,
             .rows = {},
             .line = run_line_};
      for (const Row& row : rows_) run.rows.push_back({row.bytes, row.us});
      sort_stably(run.rows,
                  [](const NcclTestRow& a, const NcclTestRow& b) { return a.bytes < b.bytes; });
      program_.clear();
    }
    rows_.clear(), ranks_.clear(), hosts_.clear(), columns_.clear();
    run_line_ = 0;
    return {};
  }

  const std::string_view given_;
  int line_ = 1, run_line_ = 0;
  std::string program_;
  std::set<int64_t> ranks_;
  std::set<std::string> hosts_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  std::vector<NcclTestRun> runs_;
};

}  // namespace

Result<std::vector<NcclTestRun>> parse_nccl_tests(std::string_view text,
                                                  std::string_view collective) {
  Parser parser(collective);
  SHW_RETURN_IF_ERROR(parser.read(text));
  return parser.take();
}

}  // namespace shw::import
