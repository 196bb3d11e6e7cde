// Compiled programs in a folder, for later processes.
//
// A program is known by all that its binary depends on: its text and the headers that it may
// include, the architecture, the version of NVRTC and its options. A file is written under a name
// of its own and then renamed, so several processes may use a folder at once; what is truncated,
// damaged or foreign is as if it were not there, and is written anew. A folder that cannot be
// written to is read; errors of it are nobody's. Files are never removed.
#pragma once
#include <optional>
#include <string>

#include "support/status.h"

namespace shw::runtime::cuda {

class ProgramCache {
 public:
  // Nothing is found in it and nothing is kept.
  ProgramCache() = default;
  // Makes the folder if it is not there. INVALID_ARGUMENT: what has this name is no folder.
  static Result<ProgramCache> open(const std::string& folder);

  bool is_open() const { return !folder_.empty(); }

  // `program`: all that the binary depends on.
  std::optional<std::string> find(const std::string& program) const;
  void keep(const std::string& program, const std::string& binary) const;

 private:
  explicit ProgramCache(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(const std::string& program) const;

  std::string folder_;  // empty: there is none
};

}  // namespace shw::runtime::cuda
