#include "ops/attention.h"

#include <string>

#include "tensor/key_window.h"

namespace shw::ops {

Status want_documents(const OpArgs& args, size_t at, const TensorType& query,
                      const TensorType& key) {
  if (!args.has(at)) return {};
  const TensorType& documents = args.in(at);
  const bool integers = documents.dtype == Dtype::kI32 || documents.dtype == Dtype::kI64;
  if (!integers || documents.rank() != 2 || documents.shape[0] != query.shape[0] ||
      documents.shape[1] == 0)
    return invalid_argument("documents are " + to_string(documents) +
                            ", expected integers: 0 and the end of each, for each row of " +
                            to_string(query));
  if (query.shape[2] != key.shape[2])
    return invalid_argument("documents divide queries and keys alike, but there are " +
                            std::to_string(query.shape[2]) + " queries and " +
                            std::to_string(key.shape[2]) + " keys");
  return {};
}

Status want_window(const OpArgs& args, const TensorType& query, const TensorType& key) {
  return key_window(*args.attrs, query.shape[2], key.shape[2]).status();
}

bool has_dropout(const Attrs& attrs) { return attrs.get_number(AttrKey::kDropoutP, 0) != 0; }

Status want_dropout_share(const OpArgs& args) {
  const double p = args.attrs->get_number(AttrKey::kDropoutP, 0);
  if (p >= 0 && p <= 1) return {};
  return invalid_argument("dropout_p is " + std::to_string(p) + ", expected 0 to 1");
}

double scored_pairs(const OpArgs& args, const TensorType& query, const TensorType& key) {
  const int64_t queries = query.shape[2], keys = key.shape[2];
  const auto window = key_window(*args.attrs, queries, keys);
  if (!window.ok() || !has_window(*args.attrs))
    return static_cast<double>(queries) * static_cast<double>(keys);
  return visible_pairs(*window, queries, keys);
}

}  // namespace shw::ops
