// Runs a fuzz target over files, and over each of them cut short and with bytes changed, without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

size_t runs = 0;

void Run(const std::string& input) {
  ++runs;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void RunWithChanges(const std::string& input) {
  Run(input);
  const size_t step = input.size() / 200 + 1;
  for (size_t at = 0; at < input.size(); at += step) {
    Run(input.substr(0, at));
    std::string changed = input;
    for (const char c : {'\0', '"', '{', '}', '\xff', '9'}) {
      changed[at] = c;
      Run(changed);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      RunWithChanges(std::string(std::istreambuf_iterator<char>(file), {}));
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs > 100 ? 0 : 1;
}
