"""An agent that does nothing wrong, and the table of what can be put in the place of one of its steps."""
import array
import fcntl
import json
import os
import sys
import termios
import time

MODES = {}  # name: (step, function)


def fault(step):
    """Keeps a function under its name. `step` says what it takes the place of:

    start       nothing: it comes before the first line is read
    initialize  the answer to `initialize`         opening     the answer to `session/new`
    turn        the whole of a turn                in_turn     its middle: "done" and the end follow
    cancel      the silence on `session/cancel`    afterwards  the exit when the input has ended
    """

    def keep(function):
        MODES[function.__name__.replace("_", "-")] = (step, function)
        return function

    return keep


class Agent:
    def __init__(self, mode, args):
        self.mode, self.args = mode, args
        self.newline = b"\n"
        self.read_bytes = 65536  # at a time
        self._input = bytearray()
        self._later = []
        self.steps = {
            "start": lambda agent: None,
            "initialize": lambda agent, request: agent.answer(request, protocolVersion=1),
            "opening": lambda agent, request: agent.answer(request, sessionId="s1"),
            "turn": well,
            "cancel": lambda agent, request: None,
            "afterwards": lambda agent: None,
        }

    # Out

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]

    def line(self, **message):
        return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + self.newline

    def send(self, **message):
        self.write(self.line(**message))

    def update_line(self, session="s1", **update):
        return self.line(method="session/update", params={"sessionId": session, "update": update})

    def update(self, **update):
        self.write(self.update_line(**update))

    def chunk_line(self, text, session="s1"):
        content = {"type": "text", "text": text}
        return self.update_line(session, sessionUpdate="agent_message_chunk", content=content)

    def say(self, text, session="s1"):
        self.write(self.chunk_line(text, session))

    def answer(self, request, **result):
        self.send(id=request["id"], result=result)

    def refuse(self, request, code, message, data=None):
        more = {} if data is None else {"data": data}
        self.send(id=request["id"], error={"code": code, "message": message, **more})

    def end_line(self, request, reason="end_turn"):
        return self.line(id=request["id"], result={"stopReason": reason})

    def end(self, request, reason="end_turn"):
        self.write(self.end_line(request, reason))

    def permission_line(self, ident, options, title="Touch the wheel"):
        """A request to be allowed something; `options` are pairs of an id and a kind."""
        listed = [{"optionId": option, "name": option, "kind": kind} for option, kind in options]
        params = {"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": title}, "options": listed}
        return self.line(id=ident, method="session/request_permission", params=params)

    def complain(self, text):
        """On standard error. It comes back once that was read, so that what follows is heard behind it."""
        view = memoryview(text.encode() if isinstance(text, str) else text)
        while view:
            view = view[os.write(2, view):]
        waiting = array.array("i", [1])
        while waiting[0]:
            fcntl.ioctl(2, termios.FIONREAD, waiting)
            time.sleep(0.001)

    def note(self, text):
        """For whoever looks when it is all over: standard output and error may be closed by then."""
        with open(os.path.join(os.environ["HOME"], "notes"), "a", encoding="utf-8") as notes:
            notes.write(text + "\n")

    # In

    def await_word(self):
        """Until whoever looks has seen enough, and says so with a file named `go`."""
        while not os.path.exists(os.path.join(os.environ["HOME"], "go")):
            time.sleep(0.01)

    def read(self):
        """The next message; None at the end of the input."""
        searched = 0
        while (end := self._input.find(b"\n", searched)) < 0:
            searched = len(self._input)
            data = os.read(0, self.read_bytes)
            if not data:
                return None
            self._input += data
        line = self._input[:end]
        del self._input[:end + 1]
        return json.loads(line)

    def answers(self, count):
        """The next answers to requests of its own; what else comes meanwhile is taken later."""
        found = []
        while len(found) < count:
            message = self.read()
            if message is None:
                raise SystemExit(1)
            (self._later if "method" in message else found).append(message)
        return found

    def run(self):
        step, function = MODES[self.mode]
        if step == "in_turn":
            self.steps["turn"] = finished(function)
        else:
            self.steps[step] = function
        self.steps["start"](self)
        steps = {"initialize": "initialize", "session/new": "opening", "session/prompt": "turn",
                 "session/cancel": "cancel"}
        while (message := self._later.pop(0) if self._later else self.read()) is not None:
            if message.get("method") in steps:
                self.steps[steps[message["method"]]](self, message)
        self.steps["afterwards"](self)


def outcomes(answers):
    """What answers to permission requests chose: an option, `cancelled`, or the code of an error."""
    words = []
    for answer in answers:
        if "error" in answer:
            words.append(str(answer["error"]["code"]))
        else:
            outcome = answer["result"]["outcome"]
            words.append(outcome.get("optionId", outcome["outcome"]))
    return " ".join(words)


def finished(function):
    def turn(agent, request):
        function(agent, request)
        agent.say("done")
        agent.end(request)

    return turn


def words_of(request):
    return "".join(block.get("text", "") for block in request["params"]["prompt"])


@fault("turn")
def well(agent, request):
    """Nothing is wrong: all others are told from this one by one thing each."""
    agent.say("you said: " + words_of(request))
    agent.end(request)


def main():
    if sys.argv[1:] == ["--list"]:
        for name, (step, function) in sorted(MODES.items()):
            print(f"{name}\t{step}\t{function.__doc__}")
        return
    mode = sys.argv[1] if len(sys.argv) > 1 else "well"
    if mode not in MODES:
        sys.exit(f"{mode} is no mode; --list shows them")
    try:
        Agent(mode, sys.argv[2:]).run()
    except BrokenPipeError:
        os._exit(0)
