// The client of @agentclientprotocol/sdk on standard input and output, for bench_acp. What it saw goes to
// standard error as one line of JSON.
//
// It reads a session's updates one after the other, as its documents show first. The other way, a handler of
// the notification, makes version 2.4.0 check every update twice and does two thirds of the work a CPU
// second.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

// The clocks start once so many updates have come: by then the compiler has seen what is hot.
const warm = Number(process.argv[2] ?? 0);
let updates = 0, text = 0, tokens = 0;
let wall = 0n, cpu = 0;

const cpuNs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
};

function look(update) {
  updates += 1;
  if (updates === warm) {
    wall = process.hrtime.bigint();
    cpu = cpuNs();
  }
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
      if (update.content.type === "text") text += update.content.text.length;
      break;
    case "tool_call":
      text += update.title.length;
      for (const location of update.locations ?? []) text += location.path.length;
      break;
    case "tool_call_update":
      text += update.status?.length ?? 0;
      for (const shown of update.content ?? []) {
        if (shown.type === "content" && shown.content.type === "text") text += shown.content.text.length;
      }
      break;
    case "usage_update":
      tokens += update.used + update.size;
      break;
    case "plan":
      for (const entry of update.entries) text += entry.content.length;
      break;
    case "available_commands_update":
      for (const command of update.availableCommands) {
        text += command.name.length + command.description.length;
      }
      break;
  }
}

const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
const stopReason = await acp.client({ name: "bench" }).connectWith(stream, async (ctx) => {
  await ctx.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
  });
  return ctx.buildSession("/srv/project").withSession(async (session) => {
    // A failure of it is thrown by nextUpdate too.
    session.prompt("Go on.").catch(() => {});
    for (;;) {
      const message = await session.nextUpdate();
      if (message.kind === "stop") return message.stopReason;
      look(message.update);
    }
  });
});
const seen = {
  updates,
  text,
  tokens,
  wallNs: Number(process.hrtime.bigint() - wall),
  cpuNs: cpuNs() - cpu,
  maxRssKb: process.resourceUsage().maxRSS,
};
if (stopReason !== "end_turn") throw new Error(`the turn ended with ${stopReason}`);
process.stderr.write(`${JSON.stringify(seen)}\n`, () => process.exit(0));
