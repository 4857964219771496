/* What lasts, in C: conversations on disk. What else is kept and read is in history_ledger.h,
 * history_search.h and history_transfer.h. The rules of every header hold here, see watchbill/base.h, but for
 * two:
 * - Every function that takes a wb_history may be called from any thread, several at once, whether the handle
 *   is const or not; wb_history_free alone needs it to itself. What is made of it (a batch, a cursor, an
 *   import) belongs to one thread at a time, and what was read (a page, a text) may be read by several.
 * - A folder is locked for the process that has it open, which the process as a whole has to know. What was
 *   opened cannot be used in a process that is forked from it, nor can that one open another: it has not the
 *   threads. A program that it runs can.
 *
 * Messages, channels and members are JSON: Message and Channel of docs/protocols/rpc.md, and
 * {"agent","session","lastSeen"} for what an agent knows of a channel. What goes in has to be such a thing
 * whole: a member that is missing, or null, has its default, and one that would be lost, as its name, its
 * kind or its value is not known here, is refused. A surrogate without its other half (\ud800) is read as
 * U+FFFD; bytes that are not UTF-8 are refused. Ids are ULIDs: 26 characters of base 32, in capitals.
 *
 * Failures of all functions that read or write, beside those that are said with them, each negated:
 * WB_INVALID_ARGUMENT: an id or a name that is none. WB_FAILED_PRECONDITION: the history was closed, or was
 * opened by the process that this one was forked from. WB_UNAVAILABLE: what the disk said.
 */
#ifndef WATCHBILL_HISTORY_H_
#define WATCHBILL_HISTORY_H_

#include "watchbill/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_history wb_history;
typedef struct wb_history_batch wb_history_batch;
typedef struct wb_history_page wb_history_page;
typedef struct wb_history_cursor wb_history_cursor;
typedef struct wb_history_text wb_history_text;

/* What a call that takes long has done so far, and about how much there is; below 0 stops it, which is
 * WB_CANCELLED. Called by the thread that made the call. It may call whatever takes the history, but for
 * closing it. */
typedef int32_t (*wb_history_progress)(void* user, uint64_t done, uint64_t of);

typedef struct wb_history_options {
  uint32_t struct_size;
  int32_t create;              /* 1; 0: WB_NOT_FOUND where there is none, and nothing is made */
  uint64_t cache_bytes;        /* of what was read: 8 MiB */
  uint64_t write_buffer_bytes; /* in memory before it goes to a table; 0: as fits the disk, 4 MiB or less */
} wb_history_options;

WB_API void wb_history_options_init(wb_history_options* options);

/* Opens the history in a folder, and makes it where there is none, with the folders above it; all for their
 * user alone. It is never repaired. `options` may be NULL. WB_FAILED_PRECONDITION (negated): another process
 * has it, named by its pid, or this one has; or a file is where a folder should be. WB_DATA_LOSS: it is
 * damaged, of a newer format than this library reads, or no history; no record was changed.
 * WB_PERMISSION_DENIED. Every failure names the folder and says what to do. */
WB_API int32_t wb_history_open(wb_str folder, const wb_history_options* options, wb_history** out,
                               wb_error* err);
/* One that lasts as long as its handle, in no folder. */
WB_API int32_t wb_history_new_in_memory(wb_history** out, wb_error* err);

/* Waits for the calls that run, then closes: the folder can be opened again when this returns. Every later
 * call with the handle, or with what was made of it, fails with WB_FAILED_PRECONDITION; batches, pages and
 * texts are not affected. WB_FAILED_PRECONDITION (negated): it was called by what a call of its own called
 * back, and nothing has changed. In a process that was forked from the one that opened it nothing is closed.
 */
WB_API int32_t wb_history_close(wb_history* history, wb_error* err);
/* Closes where that was not done. What was made of it may be freed before or after. */
WB_API void wb_history_free(wb_history* history);

/* What is written together or not at all. Everything that is put is copied; a put that fails has added
 * nothing. What is there already is replaced. A batch may be committed again, and to several histories. */
WB_API int32_t wb_history_batch_new(wb_history_batch** out, wb_error* err);
WB_API void wb_history_batch_free(wb_history_batch* batch);
/* WB_INVALID_ARGUMENT (negated): it is no message, or one that is not finished or queued. `createdAt` is kept
 * to the millisecond. */
WB_API int32_t wb_history_batch_put_message(wb_history_batch* batch, wb_str message, wb_error* err);
WB_API int32_t wb_history_batch_put_channel(wb_history_batch* batch, wb_str channel, wb_error* err);
WB_API int32_t wb_history_batch_put_member(wb_history_batch* batch, wb_str channel, wb_str member,
                                           wb_error* err);
/* The slash commands that an agent announced last: any JSON. */
WB_API int32_t wb_history_batch_put_commands(wb_history_batch* batch, wb_str agent, wb_str commands,
                                             wb_error* err);
/* All of the other's, behind what is here. */
WB_API int32_t wb_history_batch_append(wb_history_batch* batch, const wb_history_batch* more, wb_error* err);
WB_API int32_t wb_history_batch_clear(wb_history_batch* batch, wb_error* err);
/* About what it takes on the disk; 0: it is empty. */
WB_API uint64_t wb_history_batch_bytes(const wb_history_batch* batch);

/* On the disk when this returns 0. All of it or nothing is kept; what several threads commit at once goes to
 * the disk together. WB_FAILED_PRECONDITION (negated): something for a channel that was deleted, or over a
 * record of a newer version. WB_DATA_LOSS: the trail cannot be gone on with. WB_RESOURCE_EXHAUSTED (the disk
 * is full), WB_UNAVAILABLE: nothing of it can be read until something else was committed, all or nothing of
 * it may be there then, and the same batch may be committed again: once the disk works, so does this. */
WB_API int32_t wb_history_commit(wb_history* history, const wb_history_batch* batch, wb_error* err);

/* A text that was made for the caller, as JSON where its function says so: borrowed until it is freed. */
WB_API wb_str wb_history_text_get(const wb_history_text* text);
WB_API void wb_history_text_free(wb_history_text* text);

/* What was read: texts, borrowed until the page is freed. Its data is NULL for one that is not there. */
WB_API uint64_t wb_history_page_count(const wb_history_page* page);
WB_API wb_str wb_history_page_at(const wb_history_page* page, uint64_t index);
/* 1: there are others. */
WB_API int32_t wb_history_page_more(const wb_history_page* page);
/* What could not be read on the way: records, damaged or of a newer version, or damaged blocks of several. */
WB_API uint64_t wb_history_page_unreadable(const wb_history_page* page);
WB_API void wb_history_page_free(wb_history_page* page);

/* Channels, oldest first. One whose record cannot be read has its id alone: its messages can still be asked
 * for. */
WB_API int32_t wb_history_channels(const wb_history* history, wb_history_page** out, wb_error* err);
/* Members in the order of the bytes of their names. One whose record cannot be read has its name alone. */
WB_API int32_t wb_history_members(const wb_history* history, wb_str channel, wb_history_page** out,
                                  wb_error* err);
/* JSON. 1: it never announced any, or they cannot be read: it will announce them again. */
WB_API int32_t wb_history_commands(const wb_history* history, wb_str agent, wb_history_text** out,
                                   wb_error* err);

/* The last `limit` messages, or the last `limit` of those before `id`, which need not be there; oldest first.
 * A channel without messages, or that is not known, is empty. */
WB_API int32_t wb_history_last(const wb_history* history, wb_str channel, uint64_t limit,
                               wb_history_page** out, wb_error* err);
WB_API int32_t wb_history_before(const wb_history* history, wb_str channel, wb_str id, uint64_t limit,
                                 wb_history_page** out, wb_error* err);

/* All messages of a channel, one by one, newest first or oldest first, in little memory however many there
 * are. The first call for the oldest goes through all keys of the channel once. What is put or deleted
 * meanwhile may be met or not; nothing is met twice. */
WB_API int32_t wb_history_cursor_new(const wb_history* history, wb_str channel, int32_t newest_first,
                                     wb_history_cursor** out, wb_error* err);
/* 0: *out is the next message, borrowed until the cursor's next call that is not const. 1: there are no more.
 * Behind a failure it goes on where it was. */
WB_API int32_t wb_history_cursor_next(wb_history_cursor* cursor, wb_str* out, wb_error* err);
/* As wb_history_page_unreadable counts, so far; damaged blocks count as one. */
WB_API uint64_t wb_history_cursor_unreadable(const wb_history_cursor* cursor);
WB_API void wb_history_cursor_free(wb_history_cursor* cursor);

/* Deletes a channel with its members and messages, in pieces of up to `most` messages, 1 or more, so that
 * others are not kept waiting. 0: nothing is left. 1: there is more, call it again. From the first piece on
 * the channel is as if it had never been, and takes nothing any more; also after another opening. */
WB_API int32_t wb_history_channel_delete(wb_history* history, wb_str channel, uint64_t most, wb_error* err);
/* The ids of those whose deletion was begun and not ended. */
WB_API int32_t wb_history_half_deleted(const wb_history* history, wb_history_page** out, wb_error* err);
/* Deletes messages of a channel, in pieces as above: the newest `keep` stay, and those whose ids are not less
 * than `before`; empty: only `keep` counts. 0: nothing is left that can go. 1: there is more. */
WB_API int32_t wb_history_channel_prune(wb_history* history, wb_str channel, uint64_t keep, wb_str before,
                                        uint64_t most, wb_error* err);
/* The least id that a message of that time (milliseconds since 1970, UTC) can have, and a NUL: 27 bytes. */
WB_API void wb_history_first_id_at(int64_t ms, char* out);

/* About the bytes on the disk; what was written last may be missing. */
typedef struct wb_history_sizes {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t conversations, index, ledger, trail;
} wb_history_sizes;

WB_API int32_t wb_history_measure(const wb_history* history, wb_history_sizes* out, wb_error* err);
/* The same of one channel's messages. */
WB_API int32_t wb_history_channel_bytes(const wb_history* history, wb_str channel, uint64_t* out,
                                        wb_error* err);
/* Gives back the room of what was deleted or replaced. May take long; all else goes on. */
WB_API int32_t wb_history_compact(wb_history* history, wb_error* err);
/* How often something could not be read since it was opened; 0 once it is closed. */
WB_API uint64_t wb_history_unreadable(const wb_history* history);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_HISTORY_H_ */
