// The names in an exported history that its writer and its reader share.
#pragma once

#include <cstdint>
#include <string_view>

namespace watchbill::history {

// What the first line says: how the others are to be read.
inline constexpr int64_t kExportFormat = 1;

// The first member of a line says what it is; what stands behind it is only what the value itself does not
// say.
//   {"watchbill":"history","format":1}                  the first; with "channel" where it is of one channel
//   {"channel":{…}}
//   {"member":{…},"of":CHANNEL,"agent":NAME}
//   {"message":{…}}
//   {"commands":…,"agent":NAME}
//   {"record":…,"collection":NUMBER,"key":TEXT,"order":TEXT}
//   {"trailStart":NUMBER,"hash":HEX}                    the last entry that was taken off the trail's old end
//   {"entry":…,"number":NUMBER,"hash":HEX}              an entry of the trail
//   {"end":{"lines":…,"channels":…,…}}                  the last; how many lines stand before it
// A name, key or order that is no UTF-8 stands as hexadecimal digits, under its name with Hex behind it.
inline constexpr std::string_view kSuite = "watchbill", kHistory = "history";
inline constexpr std::string_view kLineChannel = "channel", kLineMember = "member", kLineMessage = "message",
                                  kLineCommands = "commands", kLineRecord = "record",
                                  kLineTrailStart = "trailStart", kLineEntry = "entry", kLineEnd = "end";

}  // namespace watchbill::history
