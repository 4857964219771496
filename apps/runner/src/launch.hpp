// What a folder says about how it is started.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace watchbill::runner {

struct Launch {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // what the folder sets: its watchbill.json, then its .env
};

// A folder is startable when it holds one of, in this order: `watchbill.json` ({"command": ["…"], "env":
// {"NAME": "…"}}), `run.js` (node), `run.py` (python3), `run.sh` (sh), or an executable `run`. NotFound names
// them where it holds none; InvalidArgument says what is wrong in the one it holds.
absl::StatusOr<Launch> ReadLaunch(const std::string& folder);

}  // namespace watchbill::runner
