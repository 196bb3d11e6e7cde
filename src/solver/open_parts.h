// The book of a branch and bound: the parts of the problem that are still open, and the smallest
// bound of those that were left. What is in neither costs what the incumbent costs, or more.
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

  // A part whose labellings are not looked for, or no further.
  void leave(double bound) { left_ = std::min(left_, bound); }
  // The same if such a bound says that nothing in it is worth finding.
  bool give_up(double bound) {
    if (bound < search_.cutoff()) return false;
    leave(bound);
    return true;
  }
  double left() const { return left_; }
  // All is settled, but for what has this bound.
  void settle(double left) {
    parts_.clear();
    left_ = left;
  }
  // Takes over what another book, of a part of this one, has open.
  void take_over(OpenParts& other) {
    leave(other.left_);
    std::ranges::move(other.parts_, std::back_inserter(parts_));
    other.parts_.clear();
  }
  // Every labelling is the incumbent or dearer, or lies in a part that is open or was left.
  double bound() const {
    double bound = std::min(search_.cost(), left_);
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
  double left_ = kForbidden;
};

}  // namespace shw::solver
