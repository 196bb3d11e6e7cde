/* The library must not write to stdout or stderr, neither in normal use nor when it refuses a call.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

typedef struct log_seen {
  int calls, sound;
} log_seen;

static void on_log(void* user, shw_log_level level, const char* message, const char* file,
                   int32_t line) {
  log_seen* seen = (log_seen*)user;
  ++seen->calls;
  seen->sound &= level >= SHW_LOG_INFO && level <= SHW_LOG_ERROR && message[0] != '\0' &&
                 strchr(message, '\n') == NULL && strncmp(file, "capi/src/", 9) == 0 && line > 0;
}

static void use_everything(log_seen* seen) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  const shw_bytes nonsense = {"nonsense that is long enough for a header", 32};
  shw_context* context = NULL;
  shw_plan *plan, *none = NULL;
  mlp_job job;
  options.log = on_log;
  options.log_user = seen;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &context));
  plan = mlp_plan(context, 2, 2);
  if (mlp_job_create(context, plan, &job)) mlp_job_run_and_check(plan, &job);
  shw_executor_abort(job.executors[0]);
  mlp_job_destroy(&job);
  EXPECT_CODE(shw_plan_compile(context, nonsense, NULL, &none), SHW_INVALID_ARGUMENT);
  EXPECT_CODE(shw_plan_load(context, nonsense, &none), SHW_DATA_LOSS);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
}

int main(void) {
  FILE* captured = tmpfile();
  const int out = dup(1), err = dup(2);
  log_seen seen = {0, 1};
  long size;
  if (captured == NULL) return 2;
  dup2(fileno(captured), 1);
  dup2(fileno(captured), 2);
  use_everything(&seen);
  fflush(NULL);
  dup2(out, 1);
  dup2(err, 2);
  fseek(captured, 0, SEEK_END);
  size = ftell(captured);
  if (size != 0) {
    char text[4096];
    rewind(captured);
    text[fread(text, 1, sizeof text - 1, captured)] = '\0';
    fprintf(stderr, "written during the run: %s\n", text);
  }
  EXPECT(size == 0);
  EXPECT(seen.calls == 1 && seen.sound); /* one line for each compilation */
  fclose(captured);
  return test_result();
}
