#include "verify/widen.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "passes/pass.h"
#include "verify/numbers.h"

namespace shw {

using runtime::HostTensor;
using runtime::HostTensorView;

namespace {

bool is_real(Dtype d) { return is_floating(d); }

enum class Change : uint8_t { kWiden, kNarrow };

TensorType changed(TensorType type, Change change) {
  if (change == Change::kNarrow) {
    if (type.dtype == Dtype::kF64) type.dtype = Dtype::kF32;
    return type;
  }
  if (is_complex(type.dtype)) {
    for (int64_t& s : type.strides) s *= 2;
    type.shape.push_back(2);
    type.strides.push_back(1);
  }
  if (is_real(type.dtype) || is_complex(type.dtype)) type.dtype = Dtype::kF64;
  return type;
}

// The number of bytes that replace 8.
int64_t eighths(Dtype d, Change change) {
  if (change == Change::kNarrow) return d == Dtype::kF64 ? 4 : 8;
  if (is_complex(d)) return 16;
  return is_real(d) ? 8 * dtype_size(Dtype::kF64) / dtype_size(d) : 8;
}

class Retyping {
 public:
  Retyping(const Program& from, Change change) : from_(from), to_(from), change_(change) {}

  Result<Program> run(Monitor& monitor) {
    drop_fused_groups(to_);  // pairs have other kernels and shapes
    SHW_RETURN_IF_ERROR(resize_storages());
    for (ProgramValue& v : to_.values) {
      if (is_complex(v.type.dtype) && v.type.rank() == kMaxRank)
        return unimplemented("complex numbers in 8 dims, as pairs, have 9");
      v.type = changed(v.type, change_);
    }
    for (Port& port : to_.ports) {
      const TensorType global = changed(port.global, change_);
      if (!port.data.empty() && global != port.global)
        return unimplemented("a program with constants in other types");
      if (!port.sizes.empty() && global.rank() > port.global.rank()) port.sizes.push_back({2, {}});
      port.global = global;
    }
    if (change_ == Change::kWiden)
      for (ProgramStep& step : to_.steps)
        if (Status s = convert(step); !s.ok()) return s.at_node(step.node, step.kernel);
    const std::array<const PassDef*, 2> passes{&kFuseSteps, &kPlanMemory};
    SHW_RETURN_IF_ERROR(run_passes(to_, passes, {}, monitor).status());
    return std::move(to_);
  }

 private:
  Status resize_storages() {
    std::vector<int64_t> factor(from_.storages.size(), 0);
    for (ProgramValue& v : to_.values) {
      const int64_t size = eighths(v.type.dtype, change_);
      int64_t& of_storage = factor[v.storage.v];
      if (of_storage != 0 && of_storage != size)
        return unimplemented("the program reads the bytes of one type as another");
      of_storage = size;
      v.offset_bytes = v.offset_bytes * size / 8;
    }
    for (uint32_t i = 0; i < factor.size(); ++i) {
      ProgramStorage& s = to_.storages[StorageId{i}];
      if (factor[i] != 0) s.bytes = (s.bytes * factor[i] + 7) / 8;
      if (s.kind == StorageKind::kInOutput) s = {s.bytes, StorageKind::kArena};
      if (s.kind == StorageKind::kArena || s.kind == StorageKind::kHost)
        s.offset_bytes = -1;  // to be planned again
    }
    to_.arena_bytes = to_.host_bytes = 0;
    return {};
  }

  bool was_complex(ValueId v) const {
    return v.valid() && v.v < from_.values.size() && is_complex(from_.values[v].type.dtype);
  }

  Status convert(ProgramStep& step) {
    if (const auto draws =
            std::to_array<std::string_view>({"rand", "randn", "rand_like", "randn_like"});
        std::ranges::find(draws, step.kernel) != draws.end() && step.outputs[0].valid())
      step.attrs.set(AttrKey::kDtype, from_.values[step.outputs[0]].type.dtype);
    const bool complex =
        std::ranges::any_of(step.inputs, [&](ValueId v) { return was_complex(v); }) ||
        std::ranges::any_of(step.outputs, [&](ValueId v) { return was_complex(v); });
    return complex ? convert_complex(step) : Status();
  }

  // Pairs are added and moved elementwise, as two numbers each; products are not.
  Status convert_complex(ProgramStep& step) {
    const auto moves =
        std::to_array<std::string_view>({"clone", "to_copy", "convert_element_type", "dtype_cast",
                                         "local_slice", "extend", "add", "sub", "neg"});
    const auto every = [&](std::span<const ValueId> list) {
      return std::ranges::all_of(list, [&](ValueId v) { return !v.valid() || was_complex(v); });
    };
    const bool all_complex = every(step.inputs) && every(step.outputs);
    const bool moves_only =
        runs_on_link(to_, step) || std::ranges::find(moves, step.kernel) != moves.end();
    if (all_complex && moves_only && !step.attrs.has(AttrKey::kOther) &&
        !step.attrs.has(AttrKey::kSelf))
      return {};
    if (all_complex && step.kernel == "conj") {
      step.kernel = "conj_pairs";
      return {};
    }
    if (step.kernel == "mul" && every(step.outputs)) {
      if (step.inputs.size() == 2 && all_complex && step.inputs[0].valid() &&
          step.inputs[1].valid()) {
        step.kernel = "mul_pairs";
        return {};
      }
      for (ValueId& v : step.inputs) {
        if (!v.valid() || was_complex(v)) continue;
        if (to_.values[v].type.rank() == kMaxRank) break;
        v = for_both(v);
      }
      return {};
    }
    return unimplemented("verification in f64 knows no '" + step.kernel + "' of complex numbers");
  }

  // Broadcasts a real operand to both numbers of a pair.
  ValueId for_both(ValueId real) {
    ProgramValue v = to_.values[real];
    v.type.shape.push_back(1);
    v.type.strides.push_back(1);
    return to_.values.push_back(v);
  }

  const Program& from_;
  Program to_;
  Change change_;
};

}  // namespace

Result<Program> widen(const Program& program, Monitor& monitor) {
  return Retyping(program, Change::kWiden).run(monitor);
}

Result<Program> narrow(const Program& program, Monitor& monitor) {
  return Retyping(program, Change::kNarrow).run(monitor);
}

bool has_f64(const Program& program) {
  return std::ranges::any_of(program.values,
                             [](const ProgramValue& v) { return v.type.dtype == Dtype::kF64; });
}

HostTensor widen(const HostTensorView& tensor) {
  if (!is_real(tensor.type.dtype) && !is_complex(tensor.type.dtype))
    return {row_major(tensor.type.dtype, tensor.type.shape), dense_bytes(tensor)};
  const std::vector<double> values = numbers_of(tensor);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {changed(row_major(tensor.type.dtype, tensor.type.shape), Change::kWiden),
          {bytes, bytes + values.size() * sizeof(double)}};
}

HostTensor narrow(const HostTensorView& tensor) {
  if (tensor.type.dtype != Dtype::kF64)
    return {row_major(tensor.type.dtype, tensor.type.shape), dense_bytes(tensor)};
  const std::vector<double> values = numbers_of(tensor);
  const std::vector<float> floats(values.begin(), values.end());
  const auto* bytes = reinterpret_cast<const std::byte*>(floats.data());
  return {row_major(Dtype::kF32, tensor.type.shape),
          {bytes, bytes + floats.size() * sizeof(float)}};
}

}  // namespace shw
