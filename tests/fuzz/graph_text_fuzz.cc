// parse_graph on any text must return a status with a position, or a graph whose printed text
// parses to the same graph.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graph/diff.h"
#include "graph/text.h"
#include "rewrite/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const shw::Result<shw::Graph> graph = shw::parse_graph(text);
  if (!graph.ok()) {
    if (graph.status().message().rfind("line ", 0) != 0) std::abort();
    return 0;
  }
  (void)shw::verify_graph(*graph).ok();
  const shw::Result<shw::Graph> again = shw::parse_graph(shw::print_graph(*graph));
  if (!again.ok() || !shw::first_difference(*again, *graph).empty()) std::abort();
  return 0;
}
