#include "ops/declared.h"

#include <algorithm>
#include <charconv>

#include "support/format.h"
#include "support/quoted.h"
#include "support/trim.h"

namespace shw::ops {
namespace {

std::optional<StatedLayout> parse_for_any_mesh(std::string_view text) {
  for (int rank = 1; rank <= kMaxMeshRank; ++rank)
    if (auto layout = parse_layout(text, rank); layout.ok()) return StatedLayout{*layout, rank};
  return std::nullopt;
}

// Trimmed parts. `keeps_orders`: a digit behind a separator is a layout's shard order.
std::vector<std::string_view> split(std::string_view list, char separator, bool keeps_orders) {
  std::vector<std::string_view> parts;
  for (size_t start = 0, end = 0; start <= list.size(); start = ++end) {
    const auto is_order = [&](size_t i) {
      return keeps_orders && i < list.size() && list[i] >= '0' && list[i] <= '9';
    };
    while (end < list.size() && (list[end] != separator || is_order(end + 1))) ++end;
    parts.push_back(trimmed(list.substr(start, end - start)));
  }
  return parts;
}

constexpr AttrKey kOfAlternatives[] = {AttrKey::kRegion, AttrKey::kInPlacements,
                                       AttrKey::kOutPlacements, AttrKey::kFlops};

// An attribute's texts, one for each alternative or one for all; none if it is no text.
std::vector<std::string_view> texts_of(const Attrs& attrs, AttrKey key) {
  const AttrValue* value = attrs.find(key);
  if (value == nullptr || !std::holds_alternative<std::string>(*value)) return {};
  return split(attrs.get_string(key), '|', key != AttrKey::kRegion && key != AttrKey::kFlops);
}

Status set_one(AttrKey key, std::string_view text, Attrs& attrs) {
  if (key != AttrKey::kFlops) {
    attrs.set(key, std::string(text));
    return {};
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid_argument("flops: " + quoted(text) + " is no number");
  attrs.set(key, number);
  return {};
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view list) {
  if (list.empty()) return {};
  std::vector<std::string_view> parts = split(list, ';', false);
  if (list.back() == ';') parts.pop_back();
  return parts;
}

Result<std::vector<Attrs>> alternatives_of(const Attrs& attrs) {
  constexpr size_t kMost = 64;  // each has a copy of the attributes
  size_t count = 1;
  for (AttrKey key : kOfAlternatives) {
    const size_t stated = texts_of(attrs, key).size();
    if (stated > kMost || (stated > 1 && count > 1 && stated != count))
      return invalid_argument(format(
          "%s states %zu alternatives; %s", std::string(attr_key_name(key)).c_str(), stated,
          stated > kMost ? "at most 64 are possible" : "the attributes before it state others"));
    count = std::max(count, stated);
  }
  std::vector<Attrs> alternatives(count, attrs);
  for (AttrKey key : kOfAlternatives) {
    const std::vector<std::string_view> texts = texts_of(attrs, key);
    for (size_t i = 0; i < count && !texts.empty(); ++i)
      SHW_RETURN_IF_ERROR(set_one(key, texts[texts.size() > 1 ? i : 0], alternatives[i]));
  }
  return alternatives;
}

Result<StatedLayout> parse_stated(std::string_view text, const TensorType& type) {
  const auto stated = parse_for_any_mesh(text);
  if (!stated)
    return invalid_argument(quoted(text) +
                            " is no layout: write one of R, S(dim), P, P(avg|max|min|product) for "
                            "each mesh dim, such as S(0)R");
  for (Placement p : stated->layout.placement) {
    if (p.is_strided() || p.kind == Placement::Kind::kMasked)
      return invalid_argument(quoted(text) +
                              ": a stated layout has neither strided shards nor masked partials");
    if (p.is_shard() && p.dim() >= type.rank())
      return invalid_argument(quoted(text) + " cuts dim " + std::to_string(p.dim()) + " of " +
                              to_string(type));
  }
  if (stated->layout.order != Layout{}.order)
    return invalid_argument(quoted(text) + ": a stated layout is cut in the order of the mesh");
  return *stated;
}

Status check_on_mesh(const StatedLayout& stated, const TensorType& type, const Mesh& mesh,
                     bool even) {
  const std::string text = quoted(to_string(stated.layout, stated.mesh_rank));
  if (stated.mesh_rank != mesh.rank())
    return invalid_argument(text + " does not have one placement for each dim of the mesh " +
                            mesh.to_string());
  if (!is_shardable(type.shape, stated.layout, mesh))
    return invalid_argument(text + " does not cut " + to_string(type) + " on the mesh " +
                            mesh.to_string() + ": not every rank gets an element");
  if (even && !is_evenly_sharded(type.shape, stated.layout, mesh))
    return invalid_argument(text + " does not cut " + to_string(type) + " evenly on the mesh " +
                            mesh.to_string());
  return {};
}

}  // namespace shw::ops
