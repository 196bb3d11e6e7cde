// shw_recipes: compares well-known recipes with the optimum.
#include "shardwise/recipes.h"

#include "compare/compare.h"

#include "blob.h"
#include "planner.h"

using namespace shw;
using namespace shw::capi;

struct shw_recipes {
  ContextRef context;
  compare::Table table;
};

namespace shw::capi {
namespace {

constexpr size_t kRecipesOptionsSize_0_2 = SHW_SIZE_TO(shw_recipes_options, foreign_name);
constexpr size_t kRecipesRowSize_0_2 = SHW_SIZE_TO(shw_recipes_row, num_unknown);

static_assert(static_cast<int>(compare::RowKind::kOptimum) == SHW_RECIPES_OPTIMUM &&
              static_cast<int>(compare::RowKind::kOptions) == SHW_RECIPES_OPTIONS &&
              static_cast<int>(compare::RowKind::kRecipe) == SHW_RECIPES_RECIPE &&
              static_cast<int>(compare::RowKind::kPlan) == SHW_RECIPES_FOREIGN);

Result<compare::CompareOptions> convert(const shw_recipes_options* options) {
  SHW_ASSIGN_OR_RETURN(const shw_recipes_options in, copy_in(options, kRecipesOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
  compare::CompareOptions out;
  SHW_ASSIGN_OR_RETURN(out.recipes, names_of(in.recipes, in.num_recipes, "recipes"));
  SHW_ASSIGN_OR_RETURN(const std::span<const uint8_t> json, bytes_of(in.foreign, "foreign"));
  if (!json.empty())
    out.plans.push_back({in.foreign_name != nullptr ? in.foreign_name : "foreign",
                         std::string(json.begin(), json.end())});
  return out;
}

shw_recipes_row to_c(const compare::Table& table, const compare::Row& row) {
  const compare::Figures& f = row.figures;
  shw_recipes_row c{};
  c.name = row.name.c_str();
  c.title = row.title.c_str();
  c.why_not = row.why_not.c_str();
  c.difference = row.difference.c_str();
  c.kind = static_cast<shw_recipes_kind>(row.kind);
  c.proven = row.proven;
  c.ahead = table.is_ahead(row);
  c.step_us = f.step_us;
  c.compute_us = f.compute_us;
  c.exposed_us = f.exposed_us;
  c.price_us = f.price_us;
  c.peak_bytes = f.peak_bytes;
  c.wire_bytes = f.wire_bytes;
  c.num_collectives = f.num_collectives;
  c.num_free = row.num_free;
  c.num_unknown = row.num_unknown;
  return c;
}

// The comparison in one of its document formats.
shw_status* text_of(const shw_recipes* recipes, shw_blob** out_blob,
                    std::string (*write)(const compare::Table&)) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(recipes);
    return make_blob(recipes->context, write(recipes->table));
  });
}

}  // namespace
}  // namespace shw::capi

void shw_recipes_options_init(shw_recipes_options* options, size_t size) {
  init_struct(options, size);
}

void shw_recipes_row_init(shw_recipes_row* row, size_t size) { init_struct(row, size); }

shw_status* shw_planner_compare(shw_planner* planner, const shw_recipes_options* options,
                                const shw_planner_changes* changes, shw_recipes** out_recipes) {
  return make_handle(out_recipes, "out_recipes", [&]() -> Result<std::unique_ptr<shw_recipes>> {
    SHW_WANT(planner);
    SHW_ASSIGN_OR_RETURN(const compare::CompareOptions wanted, convert(options));
    SHW_ASSIGN_OR_RETURN(CompileRequest request, changed_request(*planner->model, changes));
    SHW_ASSIGN_OR_RETURN(compare::Table table, compare::compare(*planner->model, request.options,
                                                                wanted, request.monitor));
    return std::make_unique<shw_recipes>(shw_recipes{planner->context, std::move(table)});
  });
}

size_t shw_recipes_num_rows(const shw_recipes* recipes) {
  return recipes ? recipes->table.rows.size() : 0;
}

shw_status* shw_recipes_get_row(const shw_recipes* recipes, size_t index,
                                shw_recipes_row* out_row) {
  return fill_struct(out_row, "out_row", kRecipesRowSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(recipes);
    SHW_RETURN_IF_ERROR(check_index(index, recipes->table.rows.size(), "row"));
    out = to_c(recipes->table, recipes->table.rows[index]);
    return {};
  });
}

shw_status* shw_recipes_to_json(const shw_recipes* recipes, shw_blob** out_blob) {
  return text_of(recipes, out_blob, compare::to_json);
}

shw_status* shw_recipes_to_text(const shw_recipes* recipes, shw_blob** out_blob) {
  return text_of(recipes, out_blob, compare::to_text);
}

shw_status* shw_recipes_to_svg(const shw_recipes* recipes, shw_blob** out_blob) {
  return text_of(recipes, out_blob, compare::to_svg);
}

void shw_recipes_destroy(shw_recipes* recipes) { delete recipes; }
