#include "dtype.h"

#include <string.h>

typedef struct row {
  shw_dtype dtype;
  const char* name;
  size_t size;
  const char* format;
  dl_dtype dlpack;
} row;

static const row rows[] = {
    {SHW_DTYPE_F32, "f32", 4, "f", {DL_FLOAT, 32, 1}},
    {SHW_DTYPE_F64, "f64", 8, "d", {DL_FLOAT, 64, 1}},
    {SHW_DTYPE_F16, "f16", 2, "e", {DL_FLOAT, 16, 1}},
    {SHW_DTYPE_BF16, "bf16", 2, NULL, {DL_BFLOAT, 16, 1}},
    {SHW_DTYPE_I8, "i8", 1, "b", {DL_INT, 8, 1}},
    {SHW_DTYPE_I16, "i16", 2, "h", {DL_INT, 16, 1}},
    {SHW_DTYPE_I32, "i32", 4, "i", {DL_INT, 32, 1}},
    {SHW_DTYPE_I64, "i64", 8, "q", {DL_INT, 64, 1}},
    {SHW_DTYPE_U8, "u8", 1, "B", {DL_UINT, 8, 1}},
    {SHW_DTYPE_BOOL, "bool", 1, "?", {DL_BOOL, 8, 1}},
    {SHW_DTYPE_C64, "c64", 8, "Zf", {DL_COMPLEX, 64, 1}},
    {SHW_DTYPE_F8E4M3FN, "f8e4m3fn", 1, NULL, {DL_FLOAT8_E4M3FN, 8, 1}},
    {SHW_DTYPE_F8E5M2, "f8e5m2", 1, NULL, {DL_FLOAT8_E5M2, 8, 1}},
};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

static const row* find(shw_dtype dtype) {
  for (int i = 0; i < NUM_ROWS; ++i)
    if (rows[i].dtype == dtype) return &rows[i];
  return NULL;
}

const char* dtype_name(shw_dtype dtype) {
  const row* r = find(dtype);
  return r == NULL ? "?" : r->name;
}
size_t dtype_size(shw_dtype dtype) {
  const row* r = find(dtype);
  return r == NULL ? 0 : r->size;
}
const char* dtype_format(shw_dtype dtype) {
  const row* r = find(dtype);
  return r == NULL ? NULL : r->format;
}
dl_dtype dtype_to_dlpack(shw_dtype dtype) {
  const dl_dtype none = {0, 0, 0};
  const row* r = find(dtype);
  return r == NULL ? none : r->dlpack;
}

shw_dtype dtype_of_dlpack(dl_dtype dtype) {
  for (int i = 0; i < NUM_ROWS; ++i)
    if (memcmp(&rows[i].dlpack, &dtype, sizeof dtype) == 0) return rows[i].dtype;
  return 0;
}

shw_dtype dtype_of_format(const char* format, size_t size) {
  if (format == NULL) format = "B";
  if (strchr("@=<", format[0]) != NULL && format[0] != '\0')
    ++format; /* native, or little-endian */
  /* The name of an integer of 4 or 8 bytes depends on the platform. */
  if (strlen(format) == 1 && strchr("ilq", format[0]) != NULL)
    format = size == 4 ? "i" : size == 8 ? "q" : "";
  for (int i = 0; i < NUM_ROWS; ++i)
    if (rows[i].format != NULL && strcmp(rows[i].format, format) == 0 && rows[i].size == size)
      return rows[i].dtype;
  return 0;
}
