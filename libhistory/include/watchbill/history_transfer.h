/* A history as lines of JSON, and back; a channel as Markdown; a copy of a history while it goes on; and what
 * can be done about one that is damaged, in C. The rules of watchbill/history.h hold here, its common
 * failures too. Reports are JSON; a pointer for one may be NULL.
 */
#ifndef WATCHBILL_HISTORY_TRANSFER_H_
#define WATCHBILL_HISTORY_TRANSFER_H_

#include "watchbill/history.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes what is written, in pieces of some 64 KiB or of one message, good during the call; by the thread that
 * made the call. Below 0 stops it, which is WB_CANCELLED. It may call whatever takes the history, but for
 * closing it. */
typedef int32_t (*wb_history_sink)(void* user, const char* data, size_t size);

typedef struct wb_history_export_options {
  uint32_t struct_size;
  int32_t ledger; /* 1: the ledger's records too; with the whole history only */
  int32_t trail;  /* 1: the trail too; with the whole history only */
  int32_t reserved;
  wb_str channel; /* its id, for it alone with its members and messages; empty: all there are */
} wb_history_export_options;

WB_API void wb_history_export_options_init(wb_history_export_options* options);

/* Writes lines of JSON, all as it is at the moment of the call, whatever is committed meanwhile, in a few MB
 * of memory. What cannot be read, and what belongs to a channel that was deleted, is left out. `options` may
 * be NULL. *report: {"written": {"channels", "members", "messages", "commands", "records", "trail"},
 * "unreadable"}. WB_NOT_FOUND (negated): there is no such channel, and nothing was written.
 * WB_INVALID_ARGUMENT: a channel together with ledger or trail. WB_CANCELLED. */
WB_API int32_t wb_history_export(const wb_history* history, const wb_history_export_options* options,
                                 wb_history_sink sink, void* user, wb_history_text** report, wb_error* err);

typedef struct wb_history_markdown_options {
  uint32_t struct_size;
  int32_t thoughts; /* 1: with thoughts */
  /* The words of the page, where they are not the English ones: a JSON object of texts, any of "user"
   * "system" "direct" "members" "id" "thought" "tools" "newFile" "plan" "inProgress" "error" "stopped"
   * "agentJoined" "agentLeft" "agentUnavailable" "noRecipient" "unreadable"; {agent} is a name. */
  wb_str words;
} wb_history_markdown_options;

WB_API void wb_history_markdown_options_init(wb_history_markdown_options* options);

/* Writes a channel for people. Whatever stands in a message or a name, no line of it is a heading of this
 * document. `options` may be NULL. *report and failures as those of wb_history_export; WB_INVALID_ARGUMENT
 * (negated) also: words that are none. */
WB_API int32_t wb_history_export_markdown(const wb_history* history, wb_str channel,
                                          const wb_history_markdown_options* options, wb_history_sink sink,
                                          void* user, wb_history_text** report, wb_error* err);

/* Takes what wb_history_export wrote into a history, line by line, and commits about a megabyte at a time.
 * Importing a file again changes nothing, so that one that was broken off is begun anew. */
typedef struct wb_history_import wb_history_import;

typedef struct wb_history_import_options {
  uint32_t struct_size;
  int32_t strict;  /* 1: nothing is taken from the first bad line on; 0: one is passed over */
  int32_t replace; /* 1: what is there under the same id is replaced; 0: it is kept */
  int32_t reserved;
} wb_history_import_options;

WB_API void wb_history_import_options_init(wb_history_import_options* options);
/* `options` may be NULL. */
WB_API int32_t wb_history_import_new(wb_history* history, const wb_history_import_options* options,
                                     wb_history_import** out, wb_error* err);
/* Pieces of any size. Fails for good, with what was committed before kept: WB_INVALID_ARGUMENT (negated):
 * this is no exported history, or strict, and a line was bad. WB_FAILED_PRECONDITION: a newer format, or
 * wb_history_import_end was called. And as wb_history_commit. */
WB_API int32_t wb_history_import_feed(wb_history_import* import, wb_str bytes, wb_error* err);
/* All is committed when it returns. Fails as wb_history_import_feed; WB_DATA_LOSS (negated): strict, and the
 * file is cut. */
WB_API int32_t wb_history_import_end(wb_history_import* import, wb_error* err);
/* What became of the lines whose batch was committed, and the bad ones so far:
 * {"kept", "replaced", "already", "refused": as "written" of an export, "bad",
 *  "badLines": [{"line", "column", "what"}], "cut"}
 * refused are those of channels that were deleted; badLines are the first hundred, whose column is 0 where it
 * is not one place; cut says why the file is not whole, and is empty where it is. */
WB_API int32_t wb_history_import_report(const wb_history_import* import, wb_history_text** out,
                                        wb_error* err);
/* So far; from any thread, also while it is fed. Either may be NULL. */
WB_API void wb_history_import_progress(const wb_history_import* import, uint64_t* lines, uint64_t* bytes);
/* What was not committed is let go. */
WB_API void wb_history_import_free(wb_history_import* import);

/* Copies all of a history as it is at the moment of the call into a folder of its own, which can be opened as
 * one; commits go on meanwhile. `folder` is not there, or empty. Whatever has the name is a whole copy: it is
 * made beside it under the name FOLDER.part. `progress`, which may be NULL, is told bytes. *report: {"keys",
 * "bytes", "damaged"}; damaged: blocks were passed over. WB_FAILED_PRECONDITION (negated): something is
 * there, or the folder is the history's own or within it, or somebody is making the same copy.
 * WB_PERMISSION_DENIED. WB_CANCELLED. WB_RESOURCE_EXHAUSTED: the disk has no room for it. */
WB_API int32_t wb_history_backup(const wb_history* history, wb_str folder, wb_history_progress progress,
                                 void* user, wb_history_text** report, wb_error* err);

/* The rest is about folders that nobody has open.
 *
 * Looks at one without changing a byte of it; `read_all` 1: at every record. *out:
 * {"there", "history", "files", "bytes", "tables", "logs", "logBytes", "others": [names], "format", "holder",
 *  "opens": {"code", "text"}, "damaged", "records"}
 * format is null where it cannot be read, holder the process that has it open, 0: one that is not told, null:
 * none. opens is what wb_history_open would say, a wb_code. records is null unless all was read, else
 * {"channels", "messages", "members", "commands", "deletions", "records", "trail", "orders", "index",
 *  "others"}, each {"readable", "unreadable"}. WB_PERMISSION_DENIED (negated): it cannot be looked at. */
WB_API int32_t wb_history_inspect(wb_str folder, int32_t read_all, wb_history_text** out, wb_error* err);

/* Makes a new history of what can be read of a damaged one, in the folder `into`, which is not there, or
 * empty. The folder itself is only read. *report: {"files", "bytes", "troubles": [texts], "records": as
 * above, "deleted", "trail"}, where trail is what wb_history_trail_verify reports of the new one, null: there
 * is none. WB_NOT_FOUND (negated): there is no history. WB_FAILED_PRECONDITION: somebody has it open, or
 * something is in the way. WB_DATA_LOSS: it is of a newer format, or nothing of it could be read; nothing was
 * made. WB_PERMISSION_DENIED, WB_RESOURCE_EXHAUSTED. */
WB_API int32_t wb_history_salvage(wb_str folder, wb_str into, wb_history_text** report, wb_error* err);

/* Puts in the place of a damaged history what can be made of it; its files are copied aside first, to
 * FOLDER.damaged-N. Whenever it is broken off, the folder is the old history or the new one, whole, and it is
 * gone on with by calling it again. About three times the history's bytes are needed on its disk. 0: done.
 * 1: it was not needed, and nothing was done. *report: {"needed", "why", "copy", "salvage": as above}.
 * Fails as wb_history_salvage does, with the folder as it was; WB_UNIMPLEMENTED (negated): the file system
 * cannot let two folders change places, and what was made is beside it. */
WB_API int32_t wb_history_repair(wb_str folder, wb_history_text** report, wb_error* err);

#ifdef __cplusplus
}
#endif
#endif /* WATCHBILL_HISTORY_TRANSFER_H_ */
