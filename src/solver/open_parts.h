// Bookkeeping of a branch and bound: the open parts, and the smallest bound of the abandoned ones.
// Every labelling outside open and abandoned parts costs at least as much as the incumbent.
#pragma once
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "solver/search.h"

namespace shw::solver {

template <class Open>  // has a double `bound`: no labelling of the part is cheaper
class OpenParts {
 public:
  explicit OpenParts(Search& search) : search_(search) {}

  bool empty() const { return parts_.empty(); }
  void add(Open part) { parts_.push_back(std::move(part)); }
  const Open& last() const { return parts_.back(); }
  Open take_last() { return take(parts_.end() - 1); }
  Open take_lowest() { return take(std::ranges::min_element(parts_, {}, &Open::bound)); }
  Open take_highest() { return take(std::ranges::max_element(parts_, {}, &Open::bound)); }

  // Abandons a part that was not searched completely.
  void abandon(double bound) { abandoned_bound_ = std::min(abandoned_bound_, bound); }
  // Abandons a part if its bound reaches the cutoff.
  bool prune(double bound) {
    if (bound < search_.cutoff()) return false;
    abandon(bound);
    return true;
  }
  double abandoned_bound() const { return abandoned_bound_; }
  // Removes all parts and sets the bound of everything abandoned.
  void settle(double bound) {
    parts_.clear();
    abandoned_bound_ = bound;
  }
  // Adopts the open parts of another list, which belongs to a sub-problem of this one.
  void take_over(OpenParts& other) {
    abandon(other.abandoned_bound_);
    std::ranges::move(other.parts_, std::back_inserter(parts_));
    other.parts_.clear();
  }
  // A lower bound on the optimum: every labelling better than the incumbent lies in an open or an
  // abandoned part.
  double bound() const {
    double bound = std::min(search_.cost(), abandoned_bound_);
    for (const Open& o : parts_) bound = std::min(bound, o.bound);
    return bound;
  }

 private:
  Open take(typename std::vector<Open>::iterator at) {
    Open part = std::move(*at);
    parts_.erase(at);
    return part;
  }

  Search& search_;
  std::vector<Open> parts_;
  double abandoned_bound_ = kForbidden;
};

}  // namespace shw::solver
