#include "verify/judge.h"

#include <algorithm>
#include <cmath>

#include "verify/numbers.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;

HostTensorView view(const HostTensor& t) { return {t.type, t.data.data()}; }

// The limits, as multiples of the noise. With many elements, another order of summation hardly
// changes the size of the noise; with few, it varies by chance. Measured over the tensors of a bf16
// transformer on 3 to 16 ranks: 0.95 to 1.05 times, up to 1.23 times where every product is summed
// over the ranks in bf16, PyTorch's results up to 1.0 times; up to 1.6 times for tensors of 32
// elements.
struct Multiples {
  double tight;  // of the typical noise, if a larger limit would hide an error of 1 % of the norm
  double loose;  // of the largest noise, otherwise
  double by_chance;  // added to `tight` for a single element; 4 times that to `loose`
  double sums;       // roundings of a sum that are always allowed, as a share of the norm
};
constexpr Multiples kOwn{1.3, 4, 3, 0};
// Another program's kernels may round more often or in another order; nothing is summed over ranks.
// A kernel that adds 2^14 terms sequentially has an error of about the square root of as many
// roundings, while sums over blocks have almost none. PyTorch's gradient of a layer norm's bias: 53
// roundings.
constexpr Multiples kOther{1.2, 16, 3, 128};
// The limit for the component of an error that scales the tensor.
constexpr double kGain = 4;

// A relative error that is always allowed: half of what must be detected.
constexpr double kHarmless = 0.005;
// The allowed error of the plan in f64, relative to the limit. f64 rounds 2^29 times finer than
// f32.
constexpr double kPlanShare = 1e-3;

// The ratio of rounding to f64 and to f32. The f64 run is its own reference: both results of the
// comparison have independent rounding errors, hence the factor √2.
constexpr double kF64ToF32 = 0x1p-29 * 1.4142135623730951;
// If the noise exceeds this share of a tensor, scaling errors cannot be distinguished from it.
constexpr double kTooNoisyForGain = 0.05;

// The rounding errors of a tensor, as Frobenius norms.
struct Noise {
  double largest = 0, typical = 0;  // over all runs; typical: root mean square
  double along = 0;                 // typical norm of the component parallel to the tensor
  double norm = 0;                  // of the tensor
  double count = 1;                 // elements
  double unit_roundoff = 0;
  double sum_roundoff = 0;  // of the dtype in which sums are accumulated
};

// The share of noise in a tensor: 1 if it consists of noise, such as a gradient that is zero in
// exact arithmetic.
double share_of(const Noise& noise) {
  const double certain = noise.norm - noise.largest;
  return noise.largest < certain ? noise.largest / certain : 1;
}

double limit_of(const Noise& noise, const Multiples& k) {
  const double chance = k.by_chance / std::sqrt(noise.count), share = share_of(noise);
  const double tight = (k.tight + chance) * noise.typical,
               loose = (k.loose + 4 * chance) * noise.largest;
  // If the tensor consists of noise, an error of 1 % is not detectable.
  const double sharp = tight + (loose - tight) * share * share;
  return std::max({sharp, std::min(loose, kHarmless * noise.norm), noise.unit_roundoff * noise.norm,
                   k.sums * noise.sum_roundoff * noise.norm});
}

// An error that scales the tensor is detectable below the noise, because errors that vary by
// element mostly cancel in the product with the tensor.
double gain_limit_of(const Noise& noise, double limit) {
  if (share_of(noise) > kTooNoisyForGain) return limit;
  const double by_chance = noise.typical / std::sqrt(noise.count);
  return std::max(kGain * std::hypot(noise.along, by_chance), kHarmless * noise.norm);
}

Noise noise_of(const Evidence& e, const std::vector<double>& reference, Dtype dtype) {
  Noise noise;
  const double share = 1 / static_cast<double>(e.run.size());
  for (size_t i = 0; i < e.run.size(); ++i) {
    const std::vector<double> exact = i == 0 ? reference : numbers_of(view(*e.exact[i]));
    Distance d = distance(numbers_of(view(*e.run[i])), exact);
    if (!e.coarse.empty()) {
      const Distance c = distance(numbers_of(view(*e.coarse[i])), exact);
      d.difference = std::max(d.difference, kF64ToF32 * c.difference);
      d.along = std::max(d.along, kF64ToF32 * c.along);
    }
    noise.largest = std::max(noise.largest, d.difference);
    noise.typical += share * d.difference * d.difference;
    noise.along += share * d.along * d.along;
    if (i > 0) continue;
    noise.norm = d.norm;
    noise.count = static_cast<double>(std::max<uint64_t>(1, d.count));
  }
  noise.typical = std::sqrt(noise.typical);
  noise.along = std::sqrt(noise.along);
  noise.unit_roundoff = unit_roundoff(dtype);
  noise.sum_roundoff = std::min(noise.unit_roundoff, unit_roundoff(Dtype::kF32));
  return noise;
}

Judged judge_by(const Noise& noise, const Multiples& multiples, const std::vector<double>& values,
                const std::vector<double>& reference, const std::vector<double>& run) {
  const Distance d = distance(values, reference);
  const double scale = std::max(noise.norm, noise.largest), unit = scale > 0 ? 1 / scale : 1;
  Judged j;
  j.error = d.difference * unit;
  const double limit = limit_of(noise, multiples);
  j.limit = limit * unit;
  j.gain = d.along * unit;
  j.gain_limit = gain_limit_of(noise, limit) * unit;
  j.different = distance(values, run).not_finite;
  if (j.different > 0)
    j.verdict = Verdict::kDifferent;
  else if (!(j.error <= j.limit))
    j.verdict = Verdict::kTooFar;
  else if (!(j.gain <= j.gain_limit))
    j.verdict = Verdict::kScaled;
  return j;
}

void judge_numbers(const Evidence& e, VerifiedTensor& t) {
  const std::vector<double> reference = numbers_of(view(*e.exact[0])),
                            run = numbers_of(view(*e.run[0]));
  const Noise noise = noise_of(e, reference, t.type.dtype);
  t.sharded = judge_by(noise, kOwn, numbers_of(e.sharded), reference, run);
  t.scale = std::max(noise.norm, noise.largest);
  const double unit = t.scale > 0 ? 1 / t.scale : 1;
  t.noise = noise.largest * unit;
  t.unsharded = distance(run, reference).difference * unit;
  t.plan = distance(numbers_of(view(*e.plan)), reference).difference * unit;
  const double share = t.type.dtype == Dtype::kF64 ? 1 : kPlanShare;
  if (!(t.plan <= share * t.sharded.limit)) t.sharded.verdict = Verdict::kWrongPlan;
  if (e.expected != nullptr)
    t.expected = judge_by(noise, kOther, numbers_of(*e.expected), reference, run);
}

// Only elements on which all unsharded runs agree are compared; rounding decides the others.
void judge_integers(const Evidence& e, VerifiedTensor& t) {
  const std::vector<int64_t> run = integers_of(view(*e.run[0]));
  std::vector<bool> decided(run.size(), true);
  for (const auto* runs : {&e.run, &e.exact})
    for (const HostTensor* other : *runs) {
      const std::vector<int64_t> values = integers_of(view(*other));
      for (size_t i = 0; i < run.size(); ++i)
        if (values[i] != run[i]) decided[i] = false;
    }
  const auto judged = [&](const HostTensorView& tensor) {
    const std::vector<int64_t> values = integers_of(tensor);
    Judged j;
    for (size_t i = 0; i < run.size(); ++i) j.different += decided[i] && values[i] != run[i];
    if (j.different > 0) j.verdict = Verdict::kDifferent;
    return j;
  };
  t.undecided = static_cast<uint64_t>(std::ranges::count(decided, false));
  t.sharded = judged(e.sharded);
  if (judged(view(*e.plan)).different > 0) t.sharded.verdict = Verdict::kWrongPlan;
  if (e.expected != nullptr) t.expected = judged(*e.expected);
}

}  // namespace

VerifiedTensor judge(const Port& port, const Evidence& evidence) {
  VerifiedTensor t;
  t.name = port.name;
  t.type = port.global;
  if (is_floating(t.type.dtype) || is_complex(t.type.dtype))
    judge_numbers(evidence, t);
  else
    judge_integers(evidence, t);
  return t;
}

}  // namespace shw
