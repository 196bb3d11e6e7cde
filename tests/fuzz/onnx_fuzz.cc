// import_model on any bytes must return a status or a graph. The verifier may refuse the graph.
#include <cstdint>

#include "graph/writer.h"
#include "import/onnx/model.h"
#include "rewrite/verify.h"

namespace {

void import_with(std::span<const uint8_t> bytes, std::string_view sizes) {
  const auto model = shw::import::onnx::import_model(bytes, {.sizes = sizes});
  if (!model.ok() || !shw::verify_graph(model->graph).ok()) return;
  (void)shw::load_graph(shw::write_graph(model->graph)).ok();
  (void)shw::import::safetensors_bytes(model->parameters);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  import_with({data, size}, {});
  import_with({data, size}, "N=2..8/2@4");  // models of the corpus have a size N
  return 0;
}
