// Are the results of a sharded run right? They are where they are as near to exact as rounding
// lets them be.
//
// Four runs of the same entry say how near that is:
//   the sharded run                 what is judged; the caller made it
//   the unsharded run               the same graph on one rank, in the plan's types
//   the unsharded run in f64        the reference
//   the plan in f64                 the sharded program without its rounding
// A tensor's noise is the distance (Frobenius norm) of the unsharded run from the reference: what
// rounding does to this computation. One run may be lucky. So it is measured again at inputs that
// differ by one unit in the last place, against f64 at those same inputs.
//
// The noise of f64 is that of f32, 2^29 times smaller.
//
// A result is right if it is no further from the reference than a small multiple of its noise
// (judge.cc), and if the plan in f64, where no error hides behind rounding, is a thousand times
// nearer than that. An error of 1 % of a tensor's norm is found where the noise is below about 1 %,
// one that scales the whole tensor also above that.
//
// Integers and truth values must be those of the unsharded run. Where rounding decides them, as it
// does which of two nearly equal numbers is the largest, the unsharded runs at neighbouring inputs
// and in f64 differ among themselves; those elements are not compared.
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

struct VerifyOptions {
  std::string entry = "step";
  int samples = 4;        // runs at neighbouring inputs, beside the one at the inputs themselves
  int most_samples = 16;  // as many where a result is over its limit
  runtime::ExecutorOptions executor = {};
};

struct ExpectedTensor {  // another program's result
  std::string name;      // of an output
  runtime::HostTensorView tensor;
};

enum class Verdict : uint8_t {
  kRight,
  kTooFar,     // further from the reference than rounding explains
  kScaled,     // as near as noise, but all of it in one direction: the tensor is scaled
  kDifferent,  // integers, truth values, infinities or NaN that are not those of the unsharded run
  kWrongPlan,  // the plan computes something else, whatever the types
};
std::string_view verdict_name(Verdict verdict);  // "right", "too far", "scaled", …

// Distances from the reference, relative to VerifiedTensor::scale.
struct Judged {
  double error = 0, limit = 0;
  double gain = 0, gain_limit = 0;  // the part of the error that is a multiple of the reference
  uint64_t different = 0;           // elements: see kDifferent
  Verdict verdict = Verdict::kRight;
};

struct VerifiedTensor {
  std::string name;  // of the output
  TensorType type;
  double scale = 0;        // norm of the reference, or its noise if that is larger
  double unsharded = 0;    // distance of the unsharded run
  double noise = 0;        // the largest of the unsharded runs
  double plan = 0;         // of the plan in f64
  uint64_t undecided = 0;  // elements that are not compared because rounding decides them
  Judged sharded;
  std::optional<Judged> expected = {};  // of the expected tensor, where there is one
};

struct VerifyReport {
  std::vector<VerifiedTensor> tensors;  // in the order of the entry's outputs
  int samples = 0;                      // that were made
  size_t num_wrong = 0, num_expected_wrong = 0;
  // The tensor that is furthest over its limit, or nearest to it. -1: none was judged.
  int worst = -1, worst_expected = -1;
};

// `inputs` and `outputs`: whole tensors, one for each port of the entry, of a run of `plan`;
// outputs without a value are not looked at. NOT_FOUND: no such entry. FAILED_PRECONDITION: the
// plan has no graph, from which the unsharded program is made. INVALID_ARGUMENT: tensors that are
// not those of the ports.
Result<VerifyReport> verify_run(const Plan& plan, std::span<const runtime::HostTensorView> inputs,
                                std::span<const runtime::HostTensorView> outputs,
                                std::span<const ExpectedTensor> expected,
                                const VerifyOptions& options, Monitor& monitor);

std::string to_text(const VerifyReport& report);                // a table
void write_json(const VerifyReport& report, JsonWriter& json);  // an object

}  // namespace shw
