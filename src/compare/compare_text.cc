// Comparisons as text and JSON.
#include "compare/compare.h"
#include "plan/report.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::compare {
namespace {

std::string figures_line(const Table& table, const Row& row) {
  const Figures& f = row.figures;
  return format("%-10s %12.3f %8.3f× %12.3f %12.3f %12s %12s %7llu %12.3f%s\n", row.name.c_str(),
                f.step_us / 1e3, f.step_us / table.optimum().figures.step_us, f.compute_us / 1e3,
                f.exposed_us / 1e3, human_bytes(f.peak_bytes).c_str(),
                human_bytes(f.wire_bytes).c_str(),
                static_cast<unsigned long long>(f.num_collectives), f.price_us / 1e3,
                row.proven ? "" : "  not proven");
}

std::string notes(const Table& table, const Row& row) {
  std::string t;
  const auto note = [&](const std::string& what) { t += (t.empty() ? "" : "; ") + what; };
  if (!row.difference.empty()) note(row.difference);
  if (table.is_ahead(row))
    note(row.figures.price_us < table.optimum().figures.price_us
             ? "faster than the optimum, which was not proven"
             : "faster than the optimum, whose price is lower: the price counts communication as "
               "if nothing hid it (see --overlap)");
  if (row.num_free > 0) note(format("%u operations cannot follow it", row.num_free));
  if (row.num_unknown > 0) note(format("%u of its nodes are not in the graph", row.num_unknown));
  return t;
}

}  // namespace

std::string to_text(const Table& table) {
  std::string t = format("mesh %s, hardware %s\n\n", table.mesh.c_str(), table.hardware.c_str());
  t += format("%-10s %12s %9s %12s %12s %12s %12s %7s %12s\n", "plan", "step ms", "", "compute ms",
              "exposed ms", "peak", "wire/rank", "coll.", "price ms");
  for (const Row& row : table.rows)
    if (row.has_plan()) t += figures_line(table, row);
  t += "\n";
  for (const Row& row : table.rows) {
    t += format("%-10s %s\n", row.name.c_str(), row.title.c_str());
    const std::string more = row.has_plan() ? notes(table, row) : "does not apply: " + row.why_not;
    if (!more.empty()) t += format("%-10s   %s\n", "", more.c_str());
  }
  return t;
}

std::string to_json(const Table& table) {
  JsonWriter j;
  j.begin_object().member("mesh", table.mesh).member("hardware", table.hardware);
  j.key("rows").begin_array();
  for (const Row& row : table.rows) {
    j.begin_object().member("name", row.name).member("kind", row_kind_name(row.kind));
    j.member("title", row.title);
    if (row.has_plan()) {
      const Figures& f = row.figures;
      j.member("step", f.step_us).member("compute", f.compute_us).member("exposed", f.exposed_us);
      j.member("price", f.price_us).member("proven", row.proven);
      j.member("peak_bytes", f.peak_bytes).member("wire_bytes", f.wire_bytes);
      j.member("collectives", f.num_collectives).member("ahead", table.is_ahead(row));
      j.member("free_nodes", row.num_free).member("unknown_nodes", row.num_unknown);
      j.member("difference", row.difference);
    } else {
      j.member("why_not", row.why_not);
    }
    j.end_object();
  }
  return j.end_array().end_object().take();
}

}  // namespace shw::compare
