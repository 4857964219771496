#!/usr/bin/env python3
"""An agent that goes wrong in the way that it is asked for: misbehaving_agent.py MODE. Standard library alone.

`well` is the one that does not: the others are told from it by one thing each.
"""
import json
import os
import signal
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "well"


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def say(session, text):
    send({"method": "session/update", "params": {"sessionId": session, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})


def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def main():
    if MODE == "ends-at-once":
        print("the licence has run out", file=sys.stderr)
        print("ask the harbour master", file=sys.stderr)
        sys.exit(3)
    if MODE == "killed-at-once":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "silent":
        print("waiting for the tide", file=sys.stderr, flush=True)
        time.sleep(3600)
    if MODE == "not-acp":
        print("<html>welcome</html>", flush=True)
        print("no protocol here", file=sys.stderr)
        sys.exit(0)
    if MODE == "floods":
        while True:
            sys.stdout.write("y" * 4000 + "\n")
    if MODE == "banner":
        print("\x1b[32mwelcome aboard\x1b[0m\n\n{\"level\":\"info\",\"msg\":\"starting\"}", flush=True)
    if MODE in ("ignores-everything", "leaves-a-child"):
        stubborn()
    if MODE == "leaves-a-child":
        child = subprocess.Popen([sys.executable, "-c", "import signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(3600)"],
                                 start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"child {child.pid}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        method, params, request = message.get("method"), message.get("params", {}), message.get("id")
        if method == "initialize":
            if MODE == "refuses":
                send({"id": request, "error": {"code": -32603, "message": "Internal error", "data": {"details": "no engine"}}})
            elif MODE == "nonsense":
                send({"id": request, "result": {"hello": "world"}})
            else:
                send({"id": request, "result": {"protocolVersion": 2 if MODE == "version-2" else 1, "agentCapabilities": {}}})
        elif method == "session/new":
            if MODE == "signed-out":
                send({"id": request, "error": {"code": -32000, "message": "Authentication required"}})
            else:
                send({"id": request, "result": {"sessionId": "s1"}})
        elif method == "session/prompt":
            text = "".join(block.get("text", "") for block in params["prompt"])
            if MODE == "ends-in-the-middle":
                say("s1", "half of an ")
                print("out of coal", file=sys.stderr, flush=True)
                os._exit(9)
            if MODE == "prompt-fails":
                send({"id": request, "error": {"code": -32603, "message": "Internal error", "data": {"message": "the model is down"}}})
                continue
            if MODE == "escapes":
                say("s1", "red \x1b[31malert\x1b[0m \x07 bell")
            elif MODE == "runs-out":
                say("s1", "as far as it goes")
                send({"id": request, "result": {"stopReason": "max_tokens"}})
                continue
            elif MODE == "asks-and-never-reads":
                block = "".join('{"jsonrpc":"2.0","id":%d,"method":"none/such"}\n' % i for i in range(1000))
                while True:
                    sys.stdout.write(block)
            elif MODE == "ignores-everything":
                say("s1", "never mind")
                time.sleep(3600)
            else:
                say("s1", f"you said: {text}")
            send({"id": request, "result": {"stopReason": "end_turn"}})
    if MODE in ("ignores-everything", "leaves-a-child"):
        time.sleep(3600)


try:
    main()
except BrokenPipeError:
    os._exit(0)
