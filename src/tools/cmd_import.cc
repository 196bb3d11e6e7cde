// shardwise import: a graph in a framework's format, checked and written in ours.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "import/file.h"
#include "import/graph_import.h"
#include "import/onnx_import.h"
#include "tools/commands.h"
#include "tools/max_text_option.h"

namespace shw::tools {
namespace {

struct ImportOptions {
  std::string format;  // empty: by the name of the input
  std::string in, out;
  std::string sizes, constants, values, plugin;  // of ONNX
  bool text = false;
  std::string max_text = kDefaultMaxText;
};

void print_summary(const Graph& graph, const ImportOptions& options, size_t file_bytes) {
  const import::GraphSummary s = import::summary_of(graph);
  std::printf("nodes       %zu\n", s.nodes);
  std::printf("parameters  %zu, %.6g MB\n", s.parameters,
              static_cast<double>(s.parameter_bytes) / 1e6);
  std::printf("inputs      %zu, buffers %zu, tangents %zu\n", s.inputs, s.buffers, s.tangents);
  std::printf("outputs     %zu, gradients %zu\n", s.results, s.gradients);
  std::printf("written     %s, %zu bytes\n", options.out.c_str(), file_bytes);
}

// model.swgraph → model.safetensors
std::string beside(const std::string& graph) {
  return std::filesystem::path(graph).replace_extension(".safetensors");
}

Result<import::ImportedGraph> import_onnx_file(const ImportOptions& options,
                                               std::span<const uint8_t> file) {
  import::OnnxOptions onnx{.sizes = options.sizes, .plugin = options.plugin};
  std::vector<uint8_t> constants;
  if (!options.constants.empty()) {
    SHW_ASSIGN_OR_RETURN(constants, import::read_file(options.constants));
  }
  onnx.constants = constants;
  const std::string values = options.values.empty() ? beside(options.out) : options.values;
  SHW_RETURN_IF_ERROR(import::check_folder_of(values));
  SHW_ASSIGN_OR_RETURN(import::OnnxModel model, import::import_onnx(file, onnx));
  SHW_RETURN_IF_ERROR(import::write_file(values, model.values));
  std::printf("values      %s, %zu bytes\n", values.c_str(), model.values.size());
  return import::ImportedGraph{std::move(model.graph), std::move(model.bytes)};
}

std::string format_of(const ImportOptions& options) {
  if (!options.format.empty()) return options.format;
  const std::string ending = std::filesystem::path(options.in).extension();
  return ending == ".onnx" ? "onnx" : ending == ".swt" ? "text" : "fx-json";
}

Result<import::ImportedGraph> imported_from(const ImportOptions& options) {
  SHW_ASSIGN_OR_RETURN(const uint64_t max_text, parse_max_text(options.max_text));
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> file, import::read_file(options.in));
  const std::string from = format_of(options);
  if (from == "onnx") return import_onnx_file(options, file);
  if (!options.sizes.empty() || !options.constants.empty() || !options.values.empty() ||
      !options.plugin.empty())
    return invalid_argument("--sizes, --constants, --values and --onnx-plugin go with --from onnx");
  const auto format = from == "text" ? import::GraphFormat::kText : import::GraphFormat::kFxJson;
  return import::import_graph(format, file, options.in, max_text);
}

Status import_file(const ImportOptions& options) {
  SHW_ASSIGN_OR_RETURN(import::ImportedGraph imported, imported_from(options));
  if (options.text) {
    const std::string text = print_graph(imported.graph);
    imported.bytes.assign(text.begin(), text.end());
  }
  SHW_RETURN_IF_ERROR(import::write_file(options.out, imported.bytes));
  print_summary(imported.graph, options, imported.bytes.size());
  return {};
}

}  // namespace

void add_import(CommandLine& command_line) {
  Verb verb = command_line.verb("import", "Convert a framework's graph to a .swgraph file");
  auto options = std::make_shared<ImportOptions>();
  verb.option("--from", options->format,
              "Input format: fx-json (PyTorch's joint graph as JSON, optionally gzipped), "
              "onnx, or text (.swt, as --text writes it); default: by the input's name, fx-json "
              "where it ends in neither .onnx nor .swt")
      .one_of({"fx-json", "onnx", "text"});
  verb.option("IN", options->in, "Input file").required();
  verb.option("-o,--output", options->out, "Output file").required();
  verb.flag("--text", options->text, "Write the text form (.swt) instead of the binary form");
  verb.option("--sizes", options->sizes,
              "ONNX: the sizes that the model leaves open, such as batch=8,sequence=1..512; a "
              "range makes a symbol of the graph");
  verb.option("--constants", options->constants,
              "ONNX: safetensors file of inputs that become constants, such as a shape");
  verb.option("--values", options->values,
              "ONNX: safetensors file to write the weights to; default: beside the output");
  verb.option("--onnx-plugin", options->plugin,
              "ONNX: path of libshardwise_onnx.so, if it is not beside the tool");
  add_max_text(verb, options->max_text);
  verb.runs([options] { return import_file(*options); });
}

}  // namespace shw::tools
