// shardwise report: a plan, or two, as a page for a browser.
#include <cstdio>
#include <memory>
#include <string>

#include "import/file.h"
#include "report/document.h"
#include "tools/commands.h"
#include "tools/plan_file.h"

namespace shw::tools {
namespace {

struct ReportOptions {
  std::string plan, other, output;
};

Status run_report(const ReportOptions& o) {
  SHW_RETURN_IF_ERROR(import::check_folder_of(o.output));
  SHW_ASSIGN_OR_RETURN(const Plan plan, read_plan_file(o.plan));
  Plan other;
  report::Extras extras;
  if (!o.other.empty()) {
    SHW_ASSIGN_OR_RETURN(other, read_plan_file(o.other));
    extras.other = &other;
  }
  SHW_ASSIGN_OR_RETURN(const std::string page, report::page(plan, extras));
  SHW_RETURN_IF_ERROR(import::write_file(o.output, page));
  std::printf("written  %s, %zu bytes: open it in a browser\n", o.output.c_str(), page.size());
  return {};
}

}  // namespace

void add_report(CommandLine& command_line) {
  auto o = std::make_shared<ReportOptions>();
  Verb verb = command_line.verb(
      "report",
      "Write a plan as a page for a browser: costs, layouts, memory, communication, time");
  verb.option("PLAN", o->plan,
              "Plan file (.swplan). To see why its layouts were chosen, write the report with "
              "`shardwise plan --report` instead")
      .required();
  verb.option("OTHER", o->other, "Another plan of the same graph, to compare with");
  verb.option("-o,--output", o->output, "Where to write the report (.html)").required();
  verb.runs([o] { return run_report(*o); });
}

}  // namespace shw::tools
