// Verifies the results of a sharded run: are they as close to the exact result as rounding permits?
//
// Four runs of the same entry determine how close that is:
//   the sharded run                 to be judged; made by the caller
//   the unsharded run               the same graph on one rank, in the plan's types
//   the unsharded run in f64        the reference
//   the plan in f64                 the sharded program without its rounding
// A tensor's noise is the distance (Frobenius norm) of the unsharded run from the reference: the
// effect of rounding on this computation. The rounding errors of a single run may happen to be
// small, so the noise is also measured at inputs that differ by one unit in the last place, against
// f64 runs at the same inputs. The noise of f64 is that of f32, divided by 2^29 and multiplied by
// √2 (judge.cc).
//
// A result is right under two conditions: its distance from the reference is at most a small
// multiple of its noise (judge.cc), and the plan in f64, where rounding cannot hide errors, is a
// thousand times closer. An error of 1 % of a tensor's norm is detected if the noise is below about
// 1 %; one that scales the whole tensor, also above that.
//
// Integers and truth values must equal those of the unsharded run. If rounding decides them, as in
// selecting the largest of nearly equal numbers, the unsharded runs at perturbed inputs and in f64
// differ among themselves; such elements are not compared.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "support/json_writer.h"
#include "support/monitor.h"

namespace shw {

// State that an executor keeps, as unsharded tensors before and after the run that is judged.
struct VerifiedState {
  std::string name;  // of its input port
  runtime::HostTensorView before, after;
};

struct VerifyOptions {
  std::string entry = "step";
  int samples = 4;        // runs at perturbed inputs, in addition to one at the given inputs
  int most_samples = 16;  // the number of these runs if a result exceeds its limit
  runtime::ExecutorOptions executor = {};
  std::vector<VerifiedState> state = {};  // all of the plan's
};

struct ExpectedTensor {  // from another program
  std::string name;      // of an output
  runtime::HostTensorView tensor;
};

enum class Verdict : uint8_t {
  kRight,
  kTooFar,     // further from the reference than rounding explains
  kScaled,     // within the noise, but the error is parallel to the tensor: it is scaled
  kDifferent,  // integers, truth values, infinities or NaN differ from the unsharded run
  kWrongPlan,  // the plan computes something else even in f64
};
std::string_view verdict_name(Verdict verdict);  // "right", "too far", "scaled", …

// Distances from the reference, relative to VerifiedTensor::scale.
struct Judged {
  double error = 0, limit = 0;
  double gain = 0, gain_limit = 0;  // component of the error parallel to the reference
  uint64_t different = 0;           // elements: see kDifferent
  Verdict verdict = Verdict::kRight;
};

struct VerifiedTensor {
  std::string name;  // of the output
  TensorType type;
  double scale = 0;        // norm of the reference, or the noise if larger
  double unsharded = 0;    // distance of the unsharded run
  double noise = 0;        // the largest of the unsharded runs
  double plan = 0;         // of the plan in f64
  uint64_t undecided = 0;  // elements not compared because rounding decides them
  Judged sharded;
  std::optional<Judged> expected = {};  // of the expected tensor, if any
};

struct VerifyReport {
  std::vector<VerifiedTensor> tensors;  // in the order of the entry's outputs, then the state
  int samples = 0;                      // number of samples used
  size_t num_wrong = 0, num_expected_wrong = 0;
  // The tensor with the largest error relative to its limit. -1: none was judged.
  int worst = -1, worst_expected = -1;
};

// `inputs` and `outputs`: unsharded tensors, one per port of the entry, of a run of `plan`; outputs
// without a value are ignored. NOT_FOUND: no such entry. FAILED_PRECONDITION: the plan does not
// contain its graph, from which the unsharded program is derived. INVALID_ARGUMENT: tensors that do
// not match the ports.
Result<VerifyReport> verify_run(const Plan& plan, std::span<const runtime::HostTensorView> inputs,
                                std::span<const runtime::HostTensorView> outputs,
                                std::span<const ExpectedTensor> expected,
                                const VerifyOptions& options, Monitor& monitor);

std::string to_text(const VerifyReport& report);                // a table
void write_json(const VerifyReport& report, JsonWriter& json);  // an object

}  // namespace shw
