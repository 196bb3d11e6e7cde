// load_graph on any bytes must return a status or a graph. A graph must survive writing as bytes
// and as text. Once its symbols have sizes, every rewrite must turn it into a graph that verifies.
#include <cstdint>
#include <cstdlib>

#include "graph/diff.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "rewrite/expand_symbols.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const shw::Result<shw::Graph> graph = shw::load_graph({data, size});
  if (!graph.ok()) {
    if (graph.status().message().empty()) std::abort();
    return 0;
  }
  const std::vector<uint8_t> written = shw::write_graph(*graph);
  const shw::Result<shw::Graph> again = shw::load_graph(written);
  if (!again.ok() || !shw::first_difference(*again, *graph).empty()) std::abort();
  if (shw::write_graph(*again) != written) std::abort();
  const shw::Result<shw::Graph> parsed = shw::parse_graph(shw::print_graph(*graph));
  if (!parsed.ok() || !shw::first_difference(*parsed, *graph).empty()) std::abort();
  const shw::Result<shw::Graph> expanded = shw::expand_symbols(*graph, {});
  if (!expanded.ok()) {  // its symbols do not fit its nodes or each other
    if (graph->symbols().table.empty() || expanded.status().message().empty()) std::abort();
    return 0;
  }
  if (!shw::run_rewrites(*expanded).ok()) std::abort();
  return 0;
}
