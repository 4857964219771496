// What a runner has started, on disk, so that it knows it again after it was ended, however that was.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "watchbill/net/process.hpp"

namespace watchbill::runner {

struct StartedProcess {
  net::ProcessId process;
  int64_t at_wall_ms = 0;
};

class StartedFile {
 public:
  // Reads what is there and forgets what no longer runs. A file that cannot be understood is set aside with a
  // warning: what it named goes on running, and is not this runner's any more.
  static absl::StatusOr<StartedFile> Load(std::string path);

  const std::map<std::string, StartedProcess>& folders() const { return folders_; }
  // On disk before it returns. Where that fails nothing has changed.
  absl::Status Put(const std::string& folder, const StartedProcess& process);
  absl::Status Remove(const std::string& folder);

 private:
  absl::Status Write(const std::map<std::string, StartedProcess>& folders) const;

  std::string path_;
  std::map<std::string, StartedProcess> folders_;
};

}  // namespace watchbill::runner
