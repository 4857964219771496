// The supervisor: agents, conversations with them, and the pages and programs that hold them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "config.hpp"
#include "watchbill/net/loop.hpp"

namespace watchbill::supervisor {

struct SupervisorOptions {
  Config config;
  std::string config_path;         // absolute
  std::string source = "default";  // flag, recent or default
  bool created = false;            // this start wrote the file
  std::vector<Problem> warnings;
  std::string folder;          // "~/.config/sidekicks"
  std::string runtime_folder;  // where programs look for the address and the token; may be empty
  uint16_t port = 5181;
  uint64_t seed = 1;
  std::map<std::string, std::string> environment;
};

class Supervisor {
 public:
  // Unavailable: the address cannot be listened on. Others: a folder or file cannot be used.
  static absl::StatusOr<std::unique_ptr<Supervisor>> Create(net::Loop& loop, SupervisorOptions options);
  ~Supervisor();

  // "http://127.0.0.1:5181/"
  std::string url() const;
  // A link that lets one browser in, once.
  absl::StatusOr<std::string> MakeLink() const;
  // Ends every agent, then calls `done`. An answer that is on its way is not kept.
  void Stop(std::function<void()> done);

  struct Impl;

 private:
  explicit Supervisor(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

// Where the keys of a configuration's pages are, and where a running supervisor says its address.
std::string KeysFolder(const std::string& folder, const std::string& key);
std::string RuntimeFile(const std::string& folder, const std::string& runtime_folder, const std::string& key);

}  // namespace watchbill::supervisor
