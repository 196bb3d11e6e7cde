#include "tools/progress_line.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace shw::tools {

ProgressLine::ProgressLine(Monitor& monitor) {
  if (isatty(STDERR_FILENO))
    monitor.on_progress = [this](const Progress& p) {
      show(p);
      return false;
    };
}

void ProgressLine::show(const Progress& p) {
  constexpr double kQuiet_s = 1, kBetween_s = 0.2;
  if (p.elapsed_s < kQuiet_s || (shown_ && p.elapsed_s < last_s_ + kBetween_s)) return;
  std::fprintf(stderr, "\r%.1f s  %.*s", p.elapsed_s, static_cast<int>(p.phase.size()),
               p.phase.data());
  if (std::isfinite(p.best_cost_us)) std::fprintf(stderr, "  cost %.6f", p.best_cost_us);
  if (std::isfinite(p.lower_bound_us)) std::fprintf(stderr, "  bound %.6f", p.lower_bound_us);
  std::fputs("        ", stderr);
  shown_ = true;
  last_s_ = p.elapsed_s;
}

void ProgressLine::end() {
  if (shown_) std::fputc('\n', stderr);
  shown_ = false;
}

}  // namespace shw::tools
