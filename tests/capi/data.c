#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

shw_bytes read_data(const char* name) {
  shw_bytes bytes = {NULL, 0};
  char path[1024];
  FILE* file;
  long size;
  snprintf(path, sizeof path, "%s/%s", SHW_PROJECT_ROOT, name);
  file = fopen(path, "rb");
  if (!EXPECT(file != NULL)) return bytes;
  fseek(file, 0, SEEK_END);
  size = ftell(file);
  rewind(file);
  if (EXPECT(size > 0)) {
    void* data = malloc((size_t)size);
    bytes.size = fread(data, 1, (size_t)size, file);
    bytes.data = data;
    EXPECT(bytes.size == (size_t)size);
  }
  fclose(file);
  return bytes;
}

void free_data(shw_bytes bytes) { free((void*)bytes.data); }

int blob_says(shw_blob* blob, const char* text) {
  const int says = blob != NULL && strstr((const char*)shw_blob_data(blob), text) != NULL;
  shw_blob_destroy(blob);
  return says;
}
