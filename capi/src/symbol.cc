// shw_symbol: a plan's sizes that are known only at run time.
#include <vector>

#include "boundary.h"
#include "plan.h"
#include "runtime/entry.h"

namespace shw::capi {
namespace {

constexpr size_t kSymbolSize_0_2 = SHW_SIZE_TO(shw_symbol, hint);

Result<std::vector<runtime::SymbolSize>> sizes_of(const shw_symbol_size* sizes, size_t count) {
  if (count != 0) SHW_WANT(sizes);
  std::vector<runtime::SymbolSize> ours;
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i].symbol == nullptr)
      return invalid_argument("sizes[" + std::to_string(i) + "].symbol is NULL");
    ours.push_back({sizes[i].symbol, sizes[i].size});
  }
  return ours;
}

}  // namespace
}  // namespace shw::capi

using namespace shw;
using namespace shw::capi;

void shw_symbol_init(shw_symbol* symbol, size_t size) { init_struct(symbol, size); }

size_t shw_plan_num_symbols(const shw_plan* plan) {
  return plan ? plan->ref->plan.program.symbols.size() : 0;
}

shw_status* shw_plan_get_symbol(const shw_plan* plan, size_t index, shw_symbol* out_symbol) {
  return fill_struct(out_symbol, "out_symbol", kSymbolSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(plan);
    const std::vector<Symbol>& symbols = plan->ref->plan.program.symbols;
    SHW_RETURN_IF_ERROR(check_index(index, symbols.size(), "symbol"));
    const Symbol& s = symbols[index];
    out.name = s.name.c_str();
    out.minimum = s.min;
    out.maximum = s.max;
    out.divisor = s.divisor;
    out.hint = s.hint;
    return {};
  });
}

shw_status* shw_plan_choose_bucket(const shw_plan* plan, const char* entry,
                                   const shw_symbol_size* sizes, size_t num_sizes,
                                   size_t* out_entry) {
  return fill_value(
      out_entry, "out_entry",
      [&](size_t& out) -> Status {
        SHW_WANT(plan);
        SHW_WANT(entry);
        SHW_ASSIGN_OR_RETURN(const auto ours, sizes_of(sizes, num_sizes));
        const Program& program = plan->ref->plan.program;
        SHW_ASSIGN_OR_RETURN(const ProgramEntry* chosen,
                             runtime::choose_bucket(program, entry, ours));
        out = static_cast<size_t>(chosen - program.entries.data());
        return {};
      },
      SHW_NONE);
}
