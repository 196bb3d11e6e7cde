#include "compare/differences.h"

#include <map>

#include "support/format.h"

namespace shw::compare {
namespace {

// Tensors that have one layout in the optimum and another in this plan.
struct Change {
  double bytes = 0;
  std::string first;  // a name
};

struct Changes {
  uint32_t changed = 0, all = 0;
  std::map<std::pair<std::string, std::string>, Change> by_layouts;  // the optimum's, this plan's

  void add(const std::string& name, double bytes, const std::string& best,
           const std::string& here) {
    ++all;
    if (best == here) return;
    ++changed;
    Change& c = by_layouts[{best, here}];
    if (c.first.empty()) c.first = name;
    c.bytes += bytes;
  }

  std::string text(const char* what) const {
    std::string t = format("%u of %u %s", changed, all, what);
    const std::pair<const std::pair<std::string, std::string>, Change>* most = nullptr;
    for (const auto& c : by_layouts)
      if (most == nullptr || c.second.bytes > most->second.bytes) most = &c;
    if (most == nullptr) return t;
    return t + format(" (%s: %s, optimum %s)", most->second.first.c_str(),
                      most->first.second.c_str(), most->first.first.c_str());
  }
};

double bytes_of(const Graph& graph, NodeId n) {
  double all = 0;
  for (const auto& type : graph.results(n)) {
    if (!type) continue;
    double bytes = static_cast<double>(dtype_size(type->dtype));
    for (const int64_t size : type->shape) bytes *= static_cast<double>(size);
    all += bytes;
  }
  return all;
}

std::string time_text(const Figures& best, const Figures& here) {
  const auto ms = [](double us) { return us / 1e3; };
  return format("%+.3f ms (compute %+.3f, exposed communication %+.3f)",
                ms(here.step_us - best.step_us), ms(here.compute_us - best.compute_us),
                ms(here.exposed_us - best.exposed_us));
}

}  // namespace

std::string difference_text(const Graph& graph, const Figures& optimum, const Plan& best,
                            const Figures& figures, const Plan& plan) {
  Changes parameters, activations;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const std::string& was = best.summary.decisions[i].result_layout;
    const std::string& is = plan.summary.decisions[i].result_layout;
    const int32_t input = graph.input_index(n);
    if (input < 0)
      activations.add(graph.name(n), bytes_of(graph, n), was, is);
    else if (const InputInfo& in = graph.inputs()[static_cast<size_t>(input)];
             in.role == InputRole::kParameter)
      parameters.add(graph.full_name(in), bytes_of(graph, n), was, is);
  }
  return time_text(optimum, figures) + "; other layouts: " + parameters.text("parameters") + ", " +
         activations.text("operations");
}

}  // namespace shw::compare
