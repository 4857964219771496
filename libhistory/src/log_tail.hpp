// The end of a log, looked at before LevelDB reads it.
#pragma once

#include <string>

#include "leveldb/env.h"

namespace watchbill::history {

// LevelDB takes a record that reaches beyond the end of its log for one in which the writer died, drops it
// and all behind it in the block, and deletes the log, whatever checks it was told to make. A length with one
// wrong bit looks just like that. Corruption: the record is there whole, by its checksum, under another
// length than it says. OK too where the file is not there any more, or the record was indeed cut.
leveldb::Status CheckLogTail(leveldb::Env* env, const std::string& name);

}  // namespace watchbill::history
