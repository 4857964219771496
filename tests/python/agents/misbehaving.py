"""An agent that is wrong in the way that its argument names: `misbehaving.py MODE`. See the table at the end.

In any mode it can also be right: what no mode touches is answered as it should be.
"""
import json
import os
import signal
import sys
import threading
import time


def write(message):
    data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
    while data:
        data = data[os.write(1, data):]


def update(session, **fields):
    write({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def say(session, text):
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def messages():
    for line in sys.stdin:
        yield json.loads(line)


class Agent:
    version = 1

    def __init__(self):
        self.sessions = 0
        self.prompts = {}  # by session: the id of its prompt
        self.asked = {}  # by id of a permission request: its session

    def run(self):
        for message in messages():
            self.on(message)

    def on(self, message):
        method, params, id = message.get("method"), message.get("params"), message.get("id")
        if method == "initialize":
            write({"id": id, "result": {"protocolVersion": self.version, "agentInfo": {"name": "bad", "version": "1"}}})
        elif method == "session/new":
            self.new_session(id, params)
        elif method == "session/prompt":
            self.prompts[params["sessionId"]] = id
            self.prompt(params["sessionId"], params["prompt"][0]["text"])
        elif method == "session/cancel":
            self.cancel(params["sessionId"])
        elif method is None and id in self.asked:
            self.answered(self.asked.pop(id), message["result"]["outcome"])

    def new_session(self, id, params):
        self.sessions += 1
        session = f"s{self.sessions}"
        # Before the answer, as some do.
        update(session, sessionUpdate="available_commands_update", availableCommands=[])
        write({"id": id, "result": {"sessionId": session, "folder": params["cwd"]}})

    def prompt(self, session, text):
        say(session, f"you said {text}")
        self.end(session)

    def end(self, session, reason="end_turn"):
        write({"id": self.prompts.pop(session), "result": {"stopReason": reason}})

    def cancel(self, session):
        if session in self.prompts:
            self.end(session, "cancelled")

    def ask(self, session, *kinds):
        id = f"p{len(self.asked)}-{session}"
        self.asked[id] = session
        options = [{"optionId": f"id-{kind}", "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
        write({"id": id, "method": "session/request_permission", "params": {
            "sessionId": session, "toolCall": {"toolCallId": "t", "title": "Remove it"}, "options": options}})

    def answered(self, session, outcome):
        say(session, outcome.get("optionId", outcome["outcome"]))
        if session in self.prompts:
            self.end(session)


class Ends:
    def run(self):
        print("\x1b[31mcannot find the model\x1b[0m", file=sys.stderr)
        sys.exit(3)


class NotAcp:
    def run(self):
        print("Welcome! Type a command.", flush=True)
        for _ in sys.stdin:
            print('{"error": {"code": 1, "message": "what?"}, "id": 1, "jsonrpc": "2.0"}', flush=True)


class VersionTwo(Agent):
    version = 2


class Silent:
    def run(self):
        for _ in sys.stdin:
            pass


class ClosesInput(Agent):
    def prompt(self, session, text):
        os.close(0)
        say(session, "deaf")
        self.end(session)
        for _ in range(100):  # whatever is written to it now fails
            self.ask(session, "allow_once", "reject_once")
        say(session, "still here")
        time.sleep(3600)


class Stubborn(Agent):
    """Ignores the end of its input and SIGTERM, and has a child in another session that does too."""

    def run(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
        super().run()
        time.sleep(3600)


class Polite(Agent):
    """Ignores the end of its input, and says that it was asked to end, as does its child."""

    def run(self):
        asked = threading.Event()

        def on_term(*_):
            print("asked to end", file=sys.stderr, flush=True)
            asked.set()

        signal.signal(signal.SIGTERM, on_term)
        helper = os.fork()
        super().run()
        while not asked.is_set():
            time.sleep(0.01)
        if helper != 0:
            os.waitpid(helper, 0)  # time enough for a second signal, were there one


class LeavesChild(Agent):
    """Ends when it should; what it started does not, in a session of its own and with another environment."""

    def run(self):
        if os.fork() == 0:
            os.setsid()
            os.execve("/bin/sleep", ["sleep", "3600"], {"WATCHBILL_OWNER": os.environ["WATCHBILL_OWNER"],
                                                        "WATCHBILL_CHILD": os.environ["WATCHBILL_CHILD"]})
        super().run()


class FloodsOutput(Agent):
    """More than any pipe or queue holds, in one turn."""

    def prompt(self, session, text):
        for number in range(int(text)):
            say(session, f"{number} " + "x" * 10_000)
        self.end(session)


class FloodsErrors(Agent):
    def prompt(self, session, text):
        line = b"e" * 99 + b"\n"
        for _ in range(100):
            os.write(2, line * 1000)  # 10 MB in all
        print("the last line", file=sys.stderr, flush=True)
        super().prompt(session, text)


class Asks(Agent):
    def prompt(self, session, text):
        self.ask(session, *text.split())


class AsksAlone(Agent):
    """Asks for a permission when no prompt runs."""

    def new_session(self, id, params):
        super().new_session(id, params)
        self.ask(f"s{self.sessions}", "allow_once", "reject_once")

    def answered(self, session, outcome):
        print(f"outside: {outcome['optionId']}", file=sys.stderr, flush=True)


class Slow(Agent):
    """Talks until it is cancelled."""

    def prompt(self, session, text):
        def talk():
            while session in self.prompts:
                say(session, "on and on ")
                time.sleep(0.01)

        threading.Thread(target=talk, daemon=True).start()


class IgnoresCancel(Slow):
    def cancel(self, session):
        print("no", file=sys.stderr, flush=True)


class Dies(Agent):
    def prompt(self, session, text):
        say(session, "before")
        print("Segmentation fault", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


class AnswersAndEnds(Agent):
    def prompt(self, session, text):
        for _ in range(2000):
            say(session, "x" * 10_000)
        self.end(session)
        sys.exit(0)


class Fails(Agent):
    def prompt(self, session, text):
        write({"id": self.prompts.pop(session), "error": {
            "code": -32603, "message": "Internal error", "data": {"details": "the model is\x1b[2J down"}}})


class Refuses(Agent):
    def prompt(self, session, text):
        say(session, "not that")
        self.end(session, "refusal")


class NoSessions(Agent):
    def new_session(self, id, params):
        write({"id": id, "error": {"code": -32000, "message": "Authentication required"}})


class BigNumber(Agent):
    def prompt(self, session, text):
        line = (b'{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "%s", "update": {'
                b'"sessionUpdate": "usage_update", "used": 1, "size": 2, "more": %s}}}\n')
        os.write(1, line % (session.encode(), b"1" * 300))
        os.write(1, line % (session.encode(), b"1" * 5000))
        super().prompt(session, text)


MODES = {
    "answers": Agent,
    "answers-and-ends": AnswersAndEnds,
    "asks": Asks,
    "asks-alone": AsksAlone,
    "big-number": BigNumber,
    "closes-input": ClosesInput,
    "dies": Dies,
    "ends": Ends,
    "fails": Fails,
    "floods-errors": FloodsErrors,
    "floods-output": FloodsOutput,
    "ignores-cancel": IgnoresCancel,
    "leaves-child": LeavesChild,
    "no-sessions": NoSessions,
    "not-acp": NotAcp,
    "polite": Polite,
    "refuses": Refuses,
    "silent": Silent,
    "slow": Slow,
    "stubborn": Stubborn,
    "version-two": VersionTwo,
}

if __name__ == "__main__":
    MODES[sys.argv[1]]().run()
