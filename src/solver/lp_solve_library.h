// lp_solve's shared library, opened at run time.
//
// lp_solve is under the LGPL: opening it on demand lets users replace it with their own build, and
// lets the solver work where it is not installed. Each object opens the library anew; the loader
// counts the references and shares the code.
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
  // The first that the loader finds. NOT_FOUND, with what was tried: there is none. Version 5.5
  // only: FAILED_PRECONDITION otherwise.
  static Result<LpSolveLibrary> open(std::span<const char* const> files);
  // As the loader finds it (LD_LIBRARY_PATH, ld.so.conf), then where Debian installs it.
  static Result<LpSolveLibrary> open();

#define X(name) decltype(&::name) name = nullptr;
  SHW_LP_SOLVE_FUNCTIONS(X)
#undef X

 private:
  std::shared_ptr<void> handle_;
};

}  // namespace shw::solver
