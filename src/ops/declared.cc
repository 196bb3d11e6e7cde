#include "ops/declared.h"

#include <algorithm>
#include <charconv>

namespace shw::ops {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::optional<StatedLayout> parse_for_any_mesh(std::string_view text) {
  for (int rank = 1; rank <= kMaxMeshRank; ++rank)
    if (auto layout = parse_layout(text, rank); layout.ok()) return StatedLayout{*layout, rank};
  return std::nullopt;
}

// f(i) says whether the list is separated at i.
template <class F>
std::vector<std::string_view> split(std::string_view list, F separates) {
  std::vector<std::string_view> parts;
  for (size_t start = 0, end = 0; start <= list.size(); start = ++end) {
    while (end < list.size() && !separates(end)) ++end;
    std::string_view part = list.substr(start, end - start);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
  }
  return parts;
}

// A digit behind '|' begins a layout's shard order.
std::vector<std::string_view> alternative_texts(AttrKey key, std::string_view text) {
  const bool of_layouts = key == AttrKey::kInPlacements || key == AttrKey::kOutPlacements;
  return split(text, [&](size_t i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    return text[i] == '|' && !(of_layouts && next >= '0' && next <= '9');
  });
}

// As a node has it that states one alternative.
Result<AttrValue> value_of(AttrKey key, std::string_view text) {
  if (key != AttrKey::kFlops) return AttrValue(std::string(text));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid_argument("flops: " + quoted(text) + " is no number");
  return AttrValue(number);
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view list) {
  if (list.empty()) return {};
  std::vector<std::string_view> parts = split(list, [&](size_t i) { return list[i] == ';'; });
  if (list.back() == ';') parts.pop_back();
  return parts;
}

Result<std::vector<Attrs>> alternatives_of(const Attrs& attrs) {
  constexpr size_t kMost = 64;  // each has a copy of the attributes
  std::vector<Attrs> alternatives{attrs};
  std::string_view counted;  // the attribute that stated their number
  for (AttrKey key :
       {AttrKey::kRegion, AttrKey::kInPlacements, AttrKey::kOutPlacements, AttrKey::kFlops}) {
    const AttrValue* value = attrs.find(key);
    const auto* text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    if (text == nullptr) continue;
    const std::vector<std::string_view> texts = alternative_texts(key, *text);
    const std::string_view name = attr_key_name(key);
    if (texts.size() > kMost)
      return invalid_argument(std::string(name) + " states more than " + std::to_string(kMost) +
                              " alternatives");
    if (texts.size() > 1 && counted.empty()) {
      counted = name;
      alternatives.resize(texts.size(), attrs);
    }
    if (texts.size() > 1 && texts.size() != alternatives.size())
      return invalid_argument(std::string(name) + " states " + std::to_string(texts.size()) +
                              " alternatives, " + std::string(counted) + " " +
                              std::to_string(alternatives.size()));
    for (size_t i = 0; i < alternatives.size(); ++i) {
      SHW_ASSIGN_OR_RETURN(AttrValue one, value_of(key, texts[texts.size() > 1 ? i : 0]));
      alternatives[i].set(key, std::move(one));
    }
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
