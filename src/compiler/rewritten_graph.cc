#include "compiler/rewritten_graph.h"

#include <utility>

#include "graph/reader.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "lowering/lowered_memory.h"
#include "ops/entries.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

Status load(std::span<const uint8_t> bytes, const CompileOptions& options, RewrittenGraph& out) {
  SHW_ASSIGN_OR_RETURN(out.graph, load_graph(bytes));
  if (options.keep_graph && is_graph_text(bytes))
    out.source = write_graph(out.graph);
  else if (options.keep_graph)
    out.source.assign(bytes.begin(), bytes.end());
  if (!options.entries.empty()) {
    SHW_ASSIGN_OR_RETURN(std::vector<EntryInfo> entries,
                         training_entries(out.graph, options.entries));
    out.graph.set_entries(std::move(entries));
    out.graph.remove_unlisted_outputs();
  }
  out.source_fingerprint = fingerprint(out.graph);
  return {};
}

// Equal nodes are not merged if memory counts, or if there are several entries, each of which may
// run alone. Computing a value again can then be better than holding it, so the passes decide
// later. With recompute auto merging is safe: the passes can undo it by computing the value again.
bool merges_equal_nodes(const CompileOptions& options, const Graph& graph) {
  const bool memory_counts = options.memory_limit_bytes > 0 || options.optimizer_factor > 0;
  return options.rules == Rules::kFull &&
         (!memory_counts || options.recompute.kind == RecomputePolicy::Kind::kAuto) &&
         graph.entries().size() <= 1;
}

Status rewrite(const CompileOptions& options, RewrittenGraph& out, Monitor& monitor) {
  if (!out.graph.symbols().table.empty() || !options.buckets.empty()) {
    SHW_ASSIGN_OR_RETURN(out.graph, expand_symbols(out.graph, options.buckets));
  }
  const RewriteOptions how{.einsum = options.einsum,
                           .biased_einsum = options.rules == Rules::kFull,
                           .merge_equal = merges_equal_nodes(options, out.graph)};
  SHW_ASSIGN_OR_RETURN(out.graph, run_rewrites(std::move(out.graph), how, nullptr, &monitor));
  out.memory = lowered_memory(out.graph);
  return {};
}

}  // namespace

Result<std::shared_ptr<const RewrittenGraph>> RewrittenGraph::read(std::span<const uint8_t> bytes,
                                                                   const CompileOptions& options,
                                                                   Monitor& monitor) {
  const auto out = std::make_shared<RewrittenGraph>();
  Stopwatch watch(out->phases, monitor);
  SHW_RETURN_IF_ERROR(watch.next("load"));
  SHW_RETURN_IF_ERROR(load(bytes, options, *out));
  SHW_RETURN_IF_ERROR(watch.next("rewrite"));
  SHW_RETURN_IF_ERROR(rewrite(options, *out, monitor));
  watch.stop();
  return std::shared_ptr<const RewrittenGraph>(out);
}

}  // namespace shw
