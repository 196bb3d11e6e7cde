#include "testing.h"

#include <stdio.h>
#include <string.h>

static int g_failures = 0;

int expect_(int holds, const char* file, int line, const char* text) {
  if (holds) return 1;
  fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
  ++g_failures;
  return 0;
}

int expect_code_(shw_status* status, shw_code code, const char* text, const char* file, int line) {
  int holds = shw_status_code(status) == code;
  if (holds && text != NULL) holds = strstr(shw_status_message(status), text) != NULL;
  if (!holds) {
    fprintf(stderr, "%s:%d: expected %s", file, line, shw_status_code_name(code));
    if (text != NULL) fprintf(stderr, " with \"%s\"", text);
    fprintf(stderr, ", got %s: %s\n", shw_status_code_name(shw_status_code(status)),
            shw_status_message(status));
    ++g_failures;
  }
  shw_status_destroy(status);
  return holds;
}

int test_result(void) { return g_failures != 0; }

shw_context* new_context(void) {
  shw_context* context = NULL;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, NULL, &context));
  return context;
}
