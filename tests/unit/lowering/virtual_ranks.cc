#include "virtual_ranks.h"

#include <algorithm>

#include "sharding/unfolding.h"

namespace shw::testing {
namespace {

// Calls f(offset) for every element in row-major order.
template <class F>
void for_each_element(const Dims& shape, const Dims& strides, int64_t first, F&& f) {
  int64_t count = 1;
  for (int64_t n : shape) count *= n;
  Dims at(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = first;
    for (size_t d = 0; d < shape.size(); ++d) offset += at[d] * strides[d];
    f(offset);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

double reduce(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::kMax:
      return std::max(a, b);
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kProduct:
      return a * b;
    default:
      return a + b;
  }
}

}  // namespace

VirtualRanks::VirtualRanks(const Program& program)
    : p_(program), given_(*Mesh::create(program.mesh)), mesh_(given_.by_parts()) {
  memory_.resize(static_cast<size_t>(mesh_.num_ranks()));
  for (auto& rank : memory_)
    for (const ProgramStorage& s : p_.storages)
      rank.emplace_back(static_cast<size_t>(s.bytes), -12345.0);  // one element per byte is enough
}

std::vector<double> VirtualRanks::read(int64_t rank, ValueId value) const {
  const ProgramValue& v = p_.values[value];
  const auto& memory = memory_[static_cast<size_t>(rank)][v.storage.v];
  std::vector<double> out;
  for_each_element(v.type.shape, v.type.strides, v.offset_bytes / dtype_size(v.type.dtype),
                   [&](int64_t o) { out.push_back(memory[static_cast<size_t>(o)]); });
  return out;
}

void VirtualRanks::write(int64_t rank, ValueId value, const std::vector<double>& elements) {
  const ProgramValue& v = p_.values[value];
  auto& memory = memory_[static_cast<size_t>(rank)][v.storage.v];
  size_t i = 0;
  for_each_element(v.type.shape, v.type.strides, v.offset_bytes / dtype_size(v.type.dtype),
                   [&](int64_t o) { memory[static_cast<size_t>(o)] = elements[i++]; });
}

void VirtualRanks::run() {
  for (const ProgramStep& s : p_.steps) run_step(s);
}

void VirtualRanks::run_step(const ProgramStep& s) {
  if (s.collective.kind != CollectiveKind::kNone) return run_collective(s);
  if (s.kernel == "local_slice") return run_slice(s);
  for (int64_t r = 0; r < num_ranks(); ++r) {
    if (s.kernel == "clone") {
      write(r, s.outputs[0], read(r, s.inputs[0]));
      continue;
    }
    std::vector<std::vector<double>> inputs;
    for (ValueId v : s.inputs) inputs.push_back(v.valid() ? read(r, v) : std::vector<double>());
    const auto outputs = kernel(s, inputs);
    for (size_t k = 0; k < s.outputs.size(); ++k)
      if (s.outputs[k].valid()) write(r, s.outputs[k], outputs[k]);
  }
}

void VirtualRanks::run_slice(const ProgramStep& s) {
  const auto dim = static_cast<int>(s.attrs.get_int(AttrKey::kDim, -1));
  Layout layout;
  size_t next = 0;
  for (uint8_t m : in_parts(s.attrs.get_ints(AttrKey::kDims))) {
    layout[m] = Placement::shard(dim);
    layout.order[next++] = m;
  }
  for (uint8_t m = 0; m < kMaxMeshRank; ++m)
    if (!layout[m].is_shard()) layout.order[next++] = m;
  for (int64_t r = 0; r < num_ranks(); ++r)
    write(r, s.outputs[0],
          piece_of(read(r, s.inputs[0]), p_.values[s.inputs[0]].type.shape, layout, mesh_, r));
}

std::vector<std::vector<int64_t>> VirtualRanks::groups(const std::vector<uint8_t>& axes) const {
  std::map<std::vector<int64_t>, std::vector<std::pair<int64_t, int64_t>>> by_rest;
  for (int64_t r = 0; r < num_ranks(); ++r) {
    std::vector<int64_t> rest;
    for (int m = 0; m < mesh_.rank(); ++m)
      if (std::find(axes.begin(), axes.end(), m) == axes.end())
        rest.push_back(mesh_.coordinate(r, m));
    int64_t number = 0;
    for (uint8_t a : axes) number = number * mesh_.size(a) + mesh_.coordinate(r, a);
    by_rest[rest].emplace_back(number, r);
  }
  std::vector<std::vector<int64_t>> all;
  for (auto& [rest, members] : by_rest) {
    std::sort(members.begin(), members.end());
    all.emplace_back();
    for (const auto& member : members) all.back().push_back(member.second);
  }
  return all;
}

void VirtualRanks::run_collective(const ProgramStep& s) {
  const Collective& c = s.collective;
  for (const std::vector<int64_t>& group : groups(in_parts(c.axes))) {
    std::vector<std::vector<double>> in;
    for (int64_t r : group) in.push_back(read(r, s.inputs[0]));
    const size_t n = group.size(), size = in[0].size(), chunk = size / n;
    std::vector<double> sum = in[0];
    for (size_t j = 1; j < n; ++j)
      for (size_t k = 0; k < size; ++k) sum[k] = reduce(c.op, sum[k], in[j][k]);
    if (c.op == ReduceOp::kAvg)
      for (double& x : sum) x /= static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) {
      std::vector<double> out;
      const auto block = [&](const std::vector<double>& from, size_t number) {
        out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(number * chunk),
                   from.begin() + static_cast<std::ptrdiff_t>((number + 1) * chunk));
      };
      switch (c.kind) {
        case CollectiveKind::kAllGather:
          for (size_t j = 0; j < n; ++j) out.insert(out.end(), in[j].begin(), in[j].end());
          break;
        case CollectiveKind::kReduceScatter:
          block(sum, i);
          break;
        case CollectiveKind::kPermute: {
          // The definition in program.h, by the coordinates of both members.
          int64_t number = 0;
          for (uint8_t a : in_parts(c.to_axes))
            number = number * mesh_.size(a) + mesh_.coordinate(group[i], a);
          out = in[static_cast<size_t>(number)];
          break;
        }
        case CollectiveKind::kAllToAll:
          for (size_t j = 0; j < n; ++j) block(in[j], i);
          break;
        default:
          out = sum;
      }
      write(group[i], s.outputs[0], out);
    }
  }
}

std::vector<double> piece_of(const std::vector<double>& whole, const Dims& shape,
                             const Layout& layout, const Mesh& mesh, int64_t rank) {
  if (layout.has_strided()) {
    const auto u = Unfolding::of(shape, mesh, {layout});
    return piece_of(whole, u->shape(), u->unfolded(layout), mesh, rank);
  }
  const Dims strides = row_major_strides(shape);
  const Dims offset = local_offset(shape, layout, mesh, rank);
  int64_t first = 0;
  for (size_t d = 0; d < shape.size(); ++d) first += offset[d] * strides[d];
  std::vector<double> out;
  for_each_element(local_shape(shape, layout, mesh), strides, first,
                   [&](int64_t o) { out.push_back(whole[static_cast<size_t>(o)]); });
  return out;
}

}  // namespace shw::testing
