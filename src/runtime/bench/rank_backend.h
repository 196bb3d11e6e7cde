// The backends that virtual ranks can be timed on, by name.
#pragma once
#include <string_view>

#include "runtime/virtual_ranks.h"

namespace shw::runtime {

// "cpu" or "null". UNIMPLEMENTED: "cuda". INVALID_ARGUMENT: another name.
Result<RankBackend> rank_backend(std::string_view device);

}  // namespace shw::runtime
