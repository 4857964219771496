#include "rpc_table.hpp"

#include <fmt/core.h>

namespace watchbill::supervisor {

std::string RpcTypes() {
  std::string out =
      "// What docs/protocols/rpc.md says, as types. Made by `watchbill-supervisor rpc schema`: change\n"
      "// apps/supervisor/src/rpc_table.hpp instead.\n\n";
  for (const RpcShape& shape : kRpcShapes)
    out += fmt::format("export type {} = {};\n", shape.name, shape.type);
  out += "\nexport interface Methods {\n";
  for (const RpcMethod& method : kRpcMethods) {
    std::string parameters;
    for (const RpcParameter& p : method.parameters) {
      if (p.name.empty()) break;
      parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", p.name, p.type);
    }
    out += fmt::format("  '{}': {{ params: [{}]; result: {} }};\n", method.name, parameters, method.result);
  }
  out += "}\n\nexport interface Events {\n";
  for (const RpcEvent& event : kRpcEvents) out += fmt::format("  '{}': {};\n", event.name, event.parameters);
  return out + "}\n";
}

}  // namespace watchbill::supervisor
