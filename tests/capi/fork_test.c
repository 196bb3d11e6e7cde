/* Contexts and plans in a forked child. The child makes its own executors, because it does not have
 * the threads of the parent's executors, and destroys what it inherited. Each fork follows a run,
 * after which the parent's threads may still be looking for work. */
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "mlp.h"
#include "testing.h"

enum { NUM_FORKS = 20, SECONDS = 60 };

static int run_in_child(shw_context* context, shw_plan* plan) {
  mlp_job job;
  alarm(SECONDS); /* ends a child that hangs */
  EXPECT(mlp_job_create(context, plan, &job));
  EXPECT(mlp_job_run_and_check(plan, &job));
  mlp_job_destroy(&job);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = mlp_plan(context, 2, 2);
  mlp_job job;
  int i;
  EXPECT(mlp_job_create(context, plan, &job));
  for (i = 0; i < NUM_FORKS && test_result() == 0; ++i) {
    int ended = 0;
    pid_t child;
    EXPECT(mlp_job_run_and_check(plan, &job));
    child = fork();
    if (child == 0) _exit(run_in_child(context, plan));
    EXPECT(child > 0 && waitpid(child, &ended, 0) == child);
    EXPECT(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  }
  mlp_job_destroy(&job);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
