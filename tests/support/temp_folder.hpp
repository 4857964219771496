// A folder that is there as long as this lives.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace watchbill {

struct TempFolder {
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "watchbill-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path;
};

}  // namespace watchbill
