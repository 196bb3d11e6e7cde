// import_fx_json on any JSON text must return a status or a graph. The verifier may refuse the
// graph.
#include <cstdint>

#include "graph/writer.h"
#include "import/fx_json.h"
#include "rewrite/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = nlohmann::json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return 0;
  const shw::Result<shw::Graph> graph = shw::import::import_fx_json(file);
  if (graph.ok() && shw::verify_graph(*graph).ok())
    (void)shw::load_graph(shw::write_graph(*graph)).ok();
  return 0;
}
