/* The monitoring protocol 0.19 in C. The rules of every header hold here: see watchbill/base.h. */
#ifndef WATCHBILL_MONITORPROTO_H_
#define WATCHBILL_MONITORPROTO_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads frames, one at a time. */
typedef struct wb_mp_decoder wb_mp_decoder;

typedef struct wb_mp_decoder_options {
  uint32_t struct_size;
  uint32_t max_depth; /* 64 */
  uint64_t max_bytes; /* 1 MiB */
} wb_mp_decoder_options;

/* Which end of which socket says it. */
typedef enum wb_mp_speaker {
  WB_MP_AGENT = 1,             /* an agent, to the monitor */
  WB_MP_MONITOR_TO_AGENT = 2,  /* the monitor, to an agent */
  WB_MP_RUNNER = 3,            /* a runner, to the monitor */
  WB_MP_MONITOR_TO_RUNNER = 4, /* the monitor, to a runner */
  WB_MP_DASHBOARD = 5          /* a browser, to the monitor */
} wb_mp_speaker;

typedef enum wb_mp_kind {
  WB_MP_UNKNOWN = 0, /* well-formed, of a type this library does not know */
  WB_MP_REGISTER = 1,
  WB_MP_RUN = 2,
  WB_MP_LOG = 3,
  WB_MP_LEAVING = 4,
  WB_MP_OK = 5,
  WB_MP_ERROR = 6,
  WB_MP_TERMINATE = 7,
  WB_MP_DUPLICATE = 8,
  WB_MP_MAY_RETURN = 9,
  WB_MP_RUNNER_REGISTER = 10,
  WB_MP_STARTED = 11,
  WB_MP_START = 12,
  WB_MP_KILL = 13,
  WB_MP_WATCH = 14,
  WB_MP_COMMAND = 15
} wb_mp_kind;

/* A frame that was read. Every wb_str is borrowed from the decoder until it reads again; one whose data is
 * NULL was not said, which is not the same as empty. */
typedef struct wb_mp_frame {
  uint32_t struct_size; /* set by the caller */
  int32_t kind;         /* wb_mp_kind */
  wb_str ask;
  wb_str id;      /* of a register or a command */
  wb_str name;    /* of a register, or of a log's step */
  wb_str host;    /* of a register */
  wb_str run_id;  /* of a run or a log */
  wb_str folder;  /* of a runner's frame */
  wb_str text;    /* the frame as this library writes it: compact JSON, stamped as it was */
  int64_t tokens; /* of a log; -1: not said */
} wb_mp_frame;

WB_API void wb_mp_decoder_options_init(wb_mp_decoder_options* options);

/* `options` may be NULL; it is copied. */
WB_API int32_t wb_mp_decoder_new(const wb_mp_decoder_options* options, wb_mp_decoder** out, wb_error* err);
WB_API void wb_mp_decoder_free(wb_mp_decoder* decoder);

/* Reads one frame into *out. WB_INVALID_ARGUMENT (negated): it is no frame, and err says why; such a frame is
 * to be skipped, never answered. `text` need not outlive the call. */
WB_API int32_t wb_mp_decode(wb_mp_decoder* decoder, int32_t speaker, wb_str text, wb_mp_frame* out,
                            wb_error* err);

/* "0.19", static. */
WB_API wb_str wb_mp_protocol(void);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_MONITORPROTO_H_ */
