"""Faults in who speaks when, and in what the ids say: the messages are well formed each by itself."""
import json

from .agent import fault, outcomes

YES, NO = ("yes", "allow_once"), ("no", "reject_once")


@fault("opening")
def answers_twice(agent, request):
    """It answers `session/new` twice, the second time with another session."""
    agent.answer(request, sessionId="s1")
    agent.answer(request, sessionId="s2")


@fault("in_turn")
def answers_nobody(agent, request):
    """It answers what nobody asked, with ids of every kind."""
    for ident in (99, 0, -1, 2.5, "3", 1e300, None, True, [3]):
        agent.send(id=ident, result={"stopReason": "refusal"})


@fault("start")
def answers_early(agent):
    """It answers requests that nobody can have sent yet."""
    agent.send(id=2, result={"sessionId": "s1"})
    agent.send(id=3, result={"stopReason": "end_turn"})


@fault("opening")
def updates_early(agent, request):
    """It tells of the session before it says that there is one; the argument is how often."""
    for number in range(int(agent.args[0])):
        agent.say("e")
    agent.answer(request, sessionId="s1")


@fault("turn")
def updates_late(agent, request):
    """It goes on telling, and asks, behind the end of the turn."""
    agent.write(agent.chunk_line("in time") + agent.end_line(request) + agent.chunk_line("too late")
                + agent.permission_line(1, [YES, NO]))
    agent.note(outcomes(agent.answers(1)))


@fault("in_turn")
def other_session(agent, request):
    """It tells of sessions that are not open: one that nobody knows, one without a name, one of no text."""
    agent.say("x", session="s2")
    agent.say("x", session="")
    agent.say("x", session=7)


@fault("in_turn")
def odd_ids(agent, request):
    """Its requests have ids of every kind that there is, and of some that there are not."""
    for ident in ("a", "", "ü\n", -5, 2.5, 1e300, 2**70, None):
        agent.send(id=ident, method="x/y")
        agent.say(f'{agent.answers(1)[0]["id"] == ident} ')
    for ident in (True, {}, [1]):
        agent.send(id=ident, method="x/y")


@fault("in_turn")
def our_ids(agent, request):
    """Its requests have the ids of ours that are open."""
    agent.write(agent.permission_line(request["id"], [YES, NO]))
    agent.say(outcomes(agent.answers(1)) + " ")


@fault("start")
def id_last(agent):
    """The members of its frames come in the opposite order, `_meta` before all."""
    def turned(data):
        message = json.loads(data)
        return json.dumps({"_meta": {"a": 1}, **dict(reversed(message.items()))}).encode() + b"\n"

    write = agent.write
    agent.write = lambda data: write(b"".join(turned(line) for line in data.splitlines()))


@fault("in_turn")
def errors_without_id(agent, request):
    """It sends errors that belong to no request: without an id, and with null for one."""
    agent.send(error={"code": -32700, "message": "Parse error"})
    agent.send(id=None, error={"code": -32700, "message": "Parse error"})


@fault("turn")
def result_and_error(agent, request):
    """Its answer holds a result and an error."""
    agent.send(id=request["id"], result={"stopReason": "end_turn"}, error={"code": 7, "message": "both"})


@fault("turn")
def error_null(agent, request):
    """Its answer holds a result, and null for an error."""
    agent.say("fine")
    agent.send(id=request["id"], error=None, result={"stopReason": "end_turn"})


@fault("turn")
def answers_nothing(agent, request):
    """Its answer holds neither a result nor an error."""
    agent.send(id=request["id"])


@fault("turn")
def answers_with(agent, request):
    """The result of the prompt is its argument."""
    agent.send(id=request["id"], result=json.loads(agent.args[0]))


@fault("turn")
def fails_with(agent, request):
    """The error of the prompt is its argument."""
    agent.send(id=request["id"], error=json.loads(agent.args[0]))


@fault("in_turn")
def asks_twice(agent, request):
    """It asks for permission twice with one id."""
    agent.write(2 * agent.permission_line("p", [YES, NO]))
    agent.say(outcomes(agent.answers(2)) + " ")


@fault("in_turn")
def asks(agent, request):
    """It asks for permission with the options of its argument, a list of [id, kind]."""
    agent.write(agent.permission_line(1, json.loads(agent.args[0])))
    agent.say(outcomes(agent.answers(1)) + " ")


@fault("in_turn")
def asks_badly(agent, request):
    """Its requests for permission cannot be understood: members are missing, or of another type."""
    params = json.loads(agent.permission_line(1, [YES, NO]))["params"]
    for wrong in ({"sessionId": 1}, {"sessionId": "s2"}, {"toolCall": None}, {"toolCall": {"title": "x"}},
                  {"options": "yes"}, {"options": None}):
        agent.send(id=1, method="session/request_permission", params={**params, **wrong})
    agent.send(id=1, method="session/request_permission")
    agent.say(outcomes(agent.answers(7)) + " ")


@fault("turn")
def ends_while_asking(agent, request):
    """It ends the turn while its question is open."""
    agent.write(agent.permission_line(1, [YES, NO]))
    agent.await_word()
    agent.end(request)
    agent.note(outcomes(agent.answers(1)))


@fault("in_turn")
def asks_in_vain(agent, request):
    """It asks for permission, and takes that back at once, or at a word where it has an argument."""
    agent.write(agent.permission_line(5, [YES, NO]))
    if agent.args:
        agent.await_word()
    agent.write(agent.line(method="$/cancel_request", params={"requestId": 5}))
    agent.write(agent.line(method="$/cancel_request", params={"requestId": 6}))
    agent.write(agent.line(method="$/cancel_request"))
    agent.send(id=6, method="x/y")
    answers = agent.answers(2)
    agent.say(outcomes(answers) + " ")


@fault("in_turn")
def asks_for_all(agent, request):
    """It asks for all that was not offered, and for what there is not."""
    path = {"sessionId": "s1", "path": "/etc/hosts"}
    terminal = {"sessionId": "s1", "terminalId": "t"}
    asked = [("fs/read_text_file", path), ("fs/write_text_file", {**path, "content": ""}),
             ("terminal/create", {"sessionId": "s1", "command": "true"}), ("terminal/output", terminal),
             ("terminal/wait_for_exit", terminal), ("terminal/kill", terminal), ("terminal/release", terminal),
             ("elicitation/create", {"sessionId": "s1", "mode": "form", "message": "?", "requestedSchema": {}}),
             ("initialize", {"protocolVersion": 1}), ("session/new", {"cwd": "/"}), ("session/prompt", {}),
             ("_private/thing", None), ("no/such", {}), ("", {}), ("session/update", {}), ("$/cancel_request", {})]
    for number, (method, params) in enumerate(asked):
        agent.send(id=number, method=method, **({} if params is None else {"params": params}))
    codes = {answer["error"]["code"] for answer in agent.answers(len(asked))}
    agent.say(f"{len(asked)} {codes} ")


@fault("in_turn")
def tells_all(agent, request):
    """It notifies of what there is not, and of requests that are none."""
    for method in ("_private/thing", "no/such", "", "$/unknown", "initialize", "session/request_permission",
                   "session/new", "elicitation/complete"):
        agent.send(method=method, params={})
        agent.send(method=method)
        agent.send(method=method, params=[1, 2])


@fault("in_turn")
def asks_two_things(agent, request):
    """It asks a second question while the first is open."""
    agent.write(agent.permission_line(1, [YES, NO], "Raise the anchor")
                + agent.permission_line(2, [YES, NO], "Sound the horn"))
    agent.say(outcomes(sorted(agent.answers(2), key=lambda answer: answer["id"])) + " ")


@fault("initialize")
def initialize_with(agent, request):
    """The result of `initialize` is its argument."""
    agent.send(id=request["id"], result=json.loads(agent.args[0]))


@fault("opening")
def open_with(agent, request):
    """The result of `session/new` is its argument."""
    agent.send(id=request["id"], result=json.loads(agent.args[0]))


@fault("opening")
def opening_fails_with(agent, request):
    """The error of `session/new` is its argument."""
    agent.send(id=request["id"], error=json.loads(agent.args[0]))


@fault("initialize")
def asks_too_soon(agent, request):
    """It asks and tells before it has answered `initialize`."""
    agent.write(agent.permission_line(1, [YES, NO]) + agent.chunk_line("soon"))
    agent.send(id=2, method="fs/read_text_file", params={"sessionId": "s1", "path": "/x"})
    agent.note(outcomes(agent.answers(2)))
    agent.answer(request, protocolVersion=1)


@fault("initialize")
def refuses(agent, request):
    """It refuses `initialize`."""
    agent.refuse(request, -32603, "Internal error", {"details": "no engine"})


@fault("initialize")
def nonsense(agent, request):
    """Its answer to `initialize` is that of something else."""
    agent.answer(request, hello="world")


@fault("initialize")
def version_2(agent, request):
    """It speaks another version alone."""
    agent.answer(request, protocolVersion=2, agentCapabilities={})


@fault("opening")
def signed_out(agent, request):
    """It opens no session before somebody has signed in."""
    agent.refuse(request, -32000, "Authentication required")


@fault("turn")
def prompt_fails(agent, request):
    """The prompt fails as where the model cannot be reached."""
    agent.refuse(request, -32603, "Internal error", {"message": "the model is down"})


@fault("turn")
def runs_out(agent, request):
    """It stops before its answer is whole."""
    agent.say("as far as it goes")
    agent.end(request, "max_tokens")


@fault("initialize")
def initialize_fails_with(agent, request):
    """The error of `initialize` is its argument."""
    agent.send(id=request["id"], error=json.loads(agent.args[0]))
