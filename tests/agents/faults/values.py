"""Faults in what well-formed messages hold: updates of unknown kinds, members missing or of another type."""
from .agent import fault

TEXT = {"type": "text", "text": "x"}


@fault("turn")
def escapes(agent, request):
    """Its text holds sequences for a terminal."""
    agent.say("red \x1b[31malert\x1b[0m \x07 bell")
    agent.end(request)


@fault("in_turn")
def unknown_kinds(agent, request):
    """Updates of kinds that there are not, and of kinds that are not stable."""
    for kind in ("weather_report", "_private", "", "plan_update", "subagent_update", "Agent_Message_Chunk"):
        agent.update(sessionUpdate=kind, content=TEXT)


@fault("in_turn")
def no_kind(agent, request):
    """Updates without a kind, or with one that is no text; and notifications that hold no update."""
    agent.update(content=TEXT)
    agent.update(sessionUpdate=7, content=TEXT)
    agent.update(sessionUpdate=None, content=TEXT)
    for params in ({"sessionId": "s1"}, {"sessionId": "s1", "update": "x"}, {"update": {}}, {}, [], "x"):
        agent.send(method="session/update", params=params)
    agent.send(method="session/update")


# Each needs something that is not there, or is of another type.
INCOMPLETE = (
    {"sessionUpdate": "agent_message_chunk"},
    {"sessionUpdate": "agent_message_chunk", "content": "text"},
    {"sessionUpdate": "agent_message_chunk", "content": {"text": "x"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}},
    {"sessionUpdate": "agent_message_chunk", "content": [TEXT]},
    {"sessionUpdate": "agent_thought_chunk", "content": None},
    {"sessionUpdate": "user_message_chunk", "content": {"type": 1}},
    {"sessionUpdate": "tool_call", "title": "no id"},
    {"sessionUpdate": "tool_call", "toolCallId": "t"},
    {"sessionUpdate": "tool_call", "toolCallId": "t", "title": None},
    {"sessionUpdate": "tool_call_update", "title": "no id"},
    {"sessionUpdate": "tool_call_update", "toolCallId": 4},
    {"sessionUpdate": "current_mode_update"},
    {"sessionUpdate": "usage_update", "used": "much", "size": 1},
    {"sessionUpdate": "notice", "title": "no severity"},
    {"sessionUpdate": "compaction_update", "status": "completed"},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c"},
)


@fault("in_turn")
def incomplete(agent, request):
    """Updates of known kinds lack what they need."""
    for update in INCOMPLETE:
        agent.update(**update)


@fault("in_turn")
def wrong_types(agent, request):
    """Members that may be left out are of another type, and lists hold what cannot be read."""
    odd = {**TEXT, "text": "kept ", "annotations": 5}
    agent.update(sessionUpdate="agent_message_chunk", content=odd, messageId=9, _meta=3)
    agent.update(sessionUpdate="tool_call", toolCallId="t", title="Odd", kind=1, status=[], content="x",
                 locations={}, rawInput=0, _meta=[])
    agent.update(sessionUpdate="tool_call_update", toolCallId="t", status="completed", kind="cook",
                 content=[1, None, {"type": "diff"}], locations=[{"line": 1}, {"path": "/x", "line": -4}])
    entries = [1, {"content": "a", "status": "completed"}, {"content": 2}, {"content": "b"}]
    agent.update(sessionUpdate="plan", entries=entries)
    agent.update(sessionUpdate="plan", entries="none")
    agent.update(sessionUpdate="plan")
    commands = [{"name": 1}, "x", {"name": "n", "input": 3}]
    agent.update(sessionUpdate="available_commands_update", availableCommands=commands)
    options = [{}, {"id": "a", "name": "b", "type": "slider"}]
    agent.update(sessionUpdate="config_option_update", configOptions=options)
    agent.update(sessionUpdate="session_info_update", title=5, updatedAt=False)
    agent.update(sessionUpdate="usage_update", used=2**70, size=-1, cost={"amount": "free"})


@fault("in_turn")
def unknown_content(agent, request):
    """Its message is made of blocks of other kinds than text, some of which nobody knows."""
    for block in ({"type": "hologram", "data": "x"}, {"type": ""},
                  {"type": "image", "data": "!", "mimeType": "image/png"},
                  {"type": "resource", "resource": {"uri": "file:///x", "text": "inside "}},
                  {"type": "resource_link", "uri": "file:///x", "name": "x"}, {"type": "image"}):
        agent.update(sessionUpdate="agent_message_chunk", content=block)


@fault("in_turn")
def tool_calls(agent, request):
    """A tool call is updated before it is made, made twice, and ended twice."""
    agent.update(sessionUpdate="tool_call_update", toolCallId="late", status="in_progress", title="Updated first")
    agent.update(sessionUpdate="tool_call_update", toolCallId="late", status="completed")
    agent.update(sessionUpdate="tool_call", toolCallId="late", title="Made last", status="pending")
    agent.update(sessionUpdate="tool_call", toolCallId="late", title="Made again", status="failed")
    agent.update(sessionUpdate="tool_call_update", toolCallId="late", status="failed")
    agent.update(sessionUpdate="tool_call_update", toolCallId="bare", status="completed")
    agent.update(sessionUpdate="tool_call_update", toolCallId="", title="No id", status="completed")
    agent.update(sessionUpdate="tool_call", toolCallId="odd", title="Two\nlines\x1b[2J", status="burnt")


@fault("in_turn")
def numbers(agent, request):
    """Numbers beyond what a double or an integer holds, and such as are none in JSON."""
    content = {"type": "text", "text": "@"}
    line = agent.update_line(sessionUpdate="agent_message_chunk", content=content, _meta={"n": 0})
    for number in ("9" * 400 + ".5", "1e999", "-1e999", "1e-999", "123456789012345678901234567890", "-0",
                   "01", "+1", ".5", "1.", "0x1F", "NaN", "Infinity"):
        words = number[:6].encode() + b" "
        agent.write(line.replace(b'"n":0', b'"n":' + number.encode()).replace(b"@", words))


@fault("in_turn")
def double_members(agent, request):
    """Members come twice in one object: of a text, of an update, of a frame."""
    agent.write(agent.chunk_line("@").replace(b'"text":"@"', b'"text":"first ","text":"second "'))
    agent.write(agent.chunk_line("x").replace(b'"sessionId":"s1"', b'"sessionId":"s1","sessionId":"s2"'))
    agent.write(agent.line(id=1, method="x/y").replace(b'"id":1', b'"id":1,"id":2'))
    agent.say(f'{agent.answers(1)[0]["id"]} ')


@fault("in_turn")
def prototype_members(agent, request):
    """Members have names that mean something elsewhere."""
    content = {"type": "text", "text": "plain ", "__proto__": {"text": "x"}}
    agent.update(sessionUpdate="agent_message_chunk", content=content, constructor={"prototype": {"x": 1}},
                 __proto__={"content": None}, toString="x")
    agent.update(**{"sessionUpdate": "__proto__"})
    agent.update(**{"sessionUpdate": "constructor"})
    agent.send(id="__proto__", method="__proto__", __proto__={"id": 1})
    agent.say(f'{agent.answers(1)[0]["id"]} ')


@fault("in_turn")
def escapes_in_names(agent, request):
    """Sequences for a terminal, and line breaks, stand in names: of a method, a session, a tool call, an option."""
    bad = "x\x1b[2J\nwatchbill-supervisor: forged"
    agent.send(id=1, method=bad)
    agent.say("x", session=bad)
    agent.update(sessionUpdate="tool_call", toolCallId="t", title=bad, status=bad)
    agent.write(agent.permission_line(2, [(bad, bad)], title=bad))
    agent.answers(2)
