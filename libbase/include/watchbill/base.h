/* The basics of watchbill's C API.
 *
 * Rules that hold in every header beside this one:
 * - Handles are opaque. What `_new` gives, `_free` takes; `_free(NULL)` does nothing.
 * - A function returns 0 when done, a positive number for another normal answer that its comment names, and
 *   minus a wb_code for a failure. The last parameter, `wb_error *err`, may be NULL; it belongs to the
 * caller.
 * - Bytes go in as wb_str (pointer and size, never needing a NUL) and come out as wb_str. Whether they were
 *   copied or are borrowed, and until when, is said at each function.
 * - An options structure begins with `struct_size`, is filled by its `_init` and grows only at the end.
 *   Enumeration values are written out and never reused.
 * - A const handle may be read from several threads at once; any other call needs the handle to itself.
 * - Nothing here throws, logs, reads a clock or keeps global state.
 */
#ifndef WATCHBILL_BASE_H_
#define WATCHBILL_BASE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WB_API __attribute__((visibility("default")))
#else
#define WB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes, UTF-8 where they are text. `data` may be NULL only where `size` is 0. */
typedef struct wb_str {
  const char* data;
  size_t size;
} wb_str;

/* What went wrong. The numbers are those of absl::StatusCode. */
typedef enum wb_code {
  WB_OK = 0,
  WB_CANCELLED = 1,
  WB_UNKNOWN = 2,
  WB_INVALID_ARGUMENT = 3,
  WB_NOT_FOUND = 5,
  WB_PERMISSION_DENIED = 7,
  WB_RESOURCE_EXHAUSTED = 8,
  WB_FAILED_PRECONDITION = 9,
  WB_ABORTED = 10,
  WB_OUT_OF_RANGE = 11,
  WB_UNIMPLEMENTED = 12,
  WB_INTERNAL = 13,
  WB_UNAVAILABLE = 14,
  WB_DATA_LOSS = 15
} wb_code;

/* Filled by a call that fails; untouched by one that does not. `text` is NUL-terminated and cut, at a
 * character, where it would be longer. */
typedef struct wb_error {
  int32_t code;
  char text[252];
} wb_error;

/* The two clocks of one moment: `mono_ns` for every deadline, `wall_ms` (milliseconds since 1970, UTC) only
 * to stamp and to show. */
typedef struct wb_now {
  int64_t mono_ns;
  int64_t wall_ms;
} wb_now;

/* Moves with every change of a structure or of a meaning; the library may change it until 1.0. */
#define WB_ABI_VERSION 1

/* The WB_ABI_VERSION that the library was built with. */
WB_API int32_t wb_abi_version(void);

/* "0.1.0", static. */
WB_API wb_str wb_version(void);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_BASE_H_ */
