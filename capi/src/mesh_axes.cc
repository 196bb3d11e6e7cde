#include "mesh_axes.h"

#include <cstring>
#include <utility>
#include <vector>

namespace shw::capi {

Result<Mesh> mesh_of(const shw_mesh_axis* mesh_axes, size_t count) {
  if (count == 0) return Mesh::parse("rank=1");
  SHW_WANT(mesh_axes);
  if (count > kMaxMeshRank)
    return invalid_argument("a mesh has at most " + std::to_string(kMaxMeshRank) + " axes, not " +
                            std::to_string(count));
  std::vector<Mesh::Axis> ours;
  for (size_t i = 0; i < count; ++i) {
    const char* name = mesh_axes[i].name;
    if (name == nullptr) return invalid_argument("mesh axis " + std::to_string(i) + " has no name");
    if (std::strpbrk(name, ",=") != nullptr)
      return invalid_argument("mesh axis '" + std::string(name) + "': , and = separate axes");
    ours.push_back({name, mesh_axes[i].size});
  }
  return Mesh::create(std::move(ours));
}

}  // namespace shw::capi
