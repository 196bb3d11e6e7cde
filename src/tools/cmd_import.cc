// shardwise import: a graph in a framework's format, checked and written in ours.
#include <cstdio>
#include <memory>
#include <string>

#include "graph/text.h"
#include "graph/writer.h"
#include "import/file.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "rewrite/verify.h"
#include "tools/commands.h"

namespace shw::tools {
namespace {

struct Options {
  std::string format = "fx-json";
  std::string in, out;
  bool text = false;
};

void print_summary(const Graph& graph, const Options& options, size_t file_bytes) {
  size_t inputs = 0, parameters = 0, buffers = 0, tangents = 0, gradients = 0, results = 0;
  int64_t parameter_bytes = 0;
  for (const InputInfo& in : graph.inputs()) {
    if (in.role == InputRole::kParameter) parameter_bytes += graph.type(in.node).bytes();
    ++(in.role == InputRole::kParameter ? parameters
       : in.role == InputRole::kBuffer  ? buffers
       : in.role == InputRole::kTangent ? tangents
                                        : inputs);
  }
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) ++(out.role == OutputRole::kGradient ? gradients : results);
  std::printf("nodes       %u\n", graph.num_nodes());
  std::printf("parameters  %zu, %.6g MB\n", parameters, static_cast<double>(parameter_bytes) / 1e6);
  std::printf("inputs      %zu, buffers %zu, tangents %zu\n", inputs, buffers, tangents);
  std::printf("outputs     %zu, gradients %zu\n", results, gradients);
  std::printf("written     %s, %zu bytes\n", options.out.c_str(), file_bytes);
}

Result<Graph> read_graph_from(const Options& options) {
  if (options.format == "text") {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(options.in));
    return parse_graph({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  SHW_ASSIGN_OR_RETURN(const nlohmann::json file, import::read_json_file(options.in));
  return import::import_fx_json(file);
}

Status import_file(const Options& options) {
  SHW_ASSIGN_OR_RETURN(const Graph graph, read_graph_from(options));
  // What is written is what others can load: the limits of the format and the verifier hold here.
  std::vector<uint8_t> bytes = write_graph(graph);
  SHW_RETURN_IF_ERROR(load_graph(bytes).status());
  if (options.text) {
    const std::string text = print_graph(graph);
    bytes.assign(text.begin(), text.end());
  }
  SHW_RETURN_IF_ERROR(import::write_file(options.out, bytes));
  print_summary(graph, options, bytes.size());
  return {};
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("import", "Convert a framework's graph to a .swgraph file");
  auto options = std::make_shared<Options>();
  verb->add_option(
          "--from", options->format,
          "Input format: fx-json (PyTorch's joint graph as JSON, optionally gzipped) or text "
          "(.swt, as --text writes it)")
      ->check(CLI::IsMember({"fx-json", "text"}))
      ->capture_default_str();
  verb->add_option("IN", options->in, "Input file")->required();
  verb->add_option("-o,--output", options->out, "Output file")->required();
  verb->add_flag("--text", options->text, "Write the text form (.swt) instead of the binary form");
  verb->callback([options, &exit_code] {
    const Status status = import_file(*options);
    exit_code = status.ok() ? 0 : print_error(status);
  });
}

}  // namespace shw::tools
