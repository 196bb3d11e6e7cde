// lp_solve's shared library, opened at run time.
//
// lp_solve is under the LGPL. Opening it on demand lets users substitute their own build and lets
// the solver work without it. Each object opens the library anew; the loader counts references and
// shares the code.
#pragma once
#include <lpsolve/lp_lib.h>

#include <memory>
#include <span>

#include "support/status.h"

namespace shw::solver {

// The functions that the solver calls.
// clang-format off
#define SHW_LP_SOLVE_FUNCTIONS(X)                                                               \
  X(make_lp) X(delete_lp) X(resize_lp) X(set_verbose) X(set_minim) X(set_constr_type) X(set_rh) \
  X(add_columnex) X(set_int) X(set_upbo) X(put_abortfunc) X(solve) X(get_Ncolumns)              \
  X(get_variables) X(set_obj_bound) X(lp_solve_version)
// clang-format on

class LpSolveLibrary {
 public:
  // Opens the first file that the loader finds. NOT_FOUND: none was found (the message lists them).
  // FAILED_PRECONDITION: not version 5.5.
  static Result<LpSolveLibrary> open(std::span<const char* const> files);
  // Searches as the loader does (LD_LIBRARY_PATH, ld.so.conf), then in Debian's location.
  static Result<LpSolveLibrary> open();

#define X(name) decltype(&::name) name = nullptr;
  SHW_LP_SOLVE_FUNCTIONS(X)
#undef X

 private:
  std::shared_ptr<void> handle_;
};

}  // namespace shw::solver
