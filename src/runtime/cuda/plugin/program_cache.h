// Compiled programs in a folder, for later processes.
//
// The key of a program is everything that its binary depends on: its text and the headers that it
// may include, the architecture, the version of NVRTC and its options. A file is written under a
// unique name and then renamed, so several processes may use a folder at once. Truncated, damaged
// or foreign files are ignored and overwritten. A folder that is not writable is still read; errors
// of the folder are ignored. Files are never removed.
#pragma once
#include <optional>
#include <string>

#include "support/status.h"

namespace shw::runtime::cuda {

class ProgramCache {
 public:
  // A cache that never finds or keeps anything.
  ProgramCache() = default;
  // Creates the folder if it does not exist. INVALID_ARGUMENT: the path is not a folder.
  static Result<ProgramCache> open(const std::string& folder);

  bool is_open() const { return !folder_.empty(); }

  // `program`: everything that the binary depends on.
  std::optional<std::string> find(const std::string& program) const;
  void keep(const std::string& program, const std::string& binary) const;

 private:
  explicit ProgramCache(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(const std::string& program) const;

  std::string folder_;  // empty: no cache
};

}  // namespace shw::runtime::cuda
