// scatter_reduce(x, indices, src): a copy of x; the elements of src are combined with those at the
// positions that the indices give along attrs.dim, in row-major order. attrs.reduce is "amax",
// "amin" or "prod".
#include "runtime/cpu/combine.h"

namespace shw::runtime::cpu {
namespace {

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  const std::string_view how = args.attrs.get_string(AttrKey::kReduce);
  if (how == "amax") return prepare_scatter(args, Combine::kMax);
  if (how == "amin") return prepare_scatter(args, Combine::kMin);
  if (how == "prod") return prepare_scatter(args, Combine::kMultiply);
  return invalid_argument("reduce is '" + std::string(how) +
                          "', expected 'amax', 'amin' or 'prod'");
}

}  // namespace

extern const Kernel kScatterReduce;
constinit const Kernel kScatterReduce = {"scatter_reduce", prepare};

}  // namespace shw::runtime::cpu
