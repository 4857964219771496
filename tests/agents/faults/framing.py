"""Faults in the bytes: what is between, around and instead of the lines."""
import json
import os
import time

from .agent import fault


@fault("start")
def banner(agent):
    """A banner in colour, an empty line and a log record come before the first frame."""
    agent.write(b'\x1b[32mwelcome aboard\x1b[0m\n\n{"level":"info","msg":"starting"}\n')


@fault("start")
def blank_lines(agent):
    """Lines of nothing but blanks come before every frame."""
    write = agent.write
    agent.write = lambda data: write(b"\n  \n\t\r\n\r\n" + data)


@fault("start")
def noise_between(agent):
    """A line that is no message comes before every frame."""
    write = agent.write
    agent.write = lambda data: write(b"ping\n" + data)


@fault("start")
def byte_order_mark(agent):
    """The first frame begins with a byte order mark."""
    agent.write(b"\xef\xbb\xbf")


@fault("start")
def carriage_returns(agent):
    """Every line ends as on Windows."""
    agent.newline = b"\r\n"


@fault("in_turn")
def carriage_return_inside(agent, request):
    """Lone carriage returns stand between the members of a frame, and one in a text."""
    agent.write(agent.chunk_line("one ").replace(b',"', b'\r,\r"'))
    agent.write(agent.chunk_line("two ").replace(b"two ", b"two\r"))


@fault("in_turn")
def nul_bytes(agent, request):
    """A line of zero bytes, a frame with one in a text, and one with some behind it."""
    agent.write(b"\0\0\0\n")
    agent.write(agent.chunk_line("x").replace(b'"x"', b'"x\0"'))
    agent.write(agent.chunk_line("y").replace(b"\n", b"\0\0\n"))


@fault("start")
def byte_by_byte(agent):
    """Every byte is a write of its own."""
    write = agent.write
    agent.write = lambda data: [write(data[at:at + 1]) for at in range(len(data))]


@fault("in_turn")
def halves(agent, request):
    """A frame comes in two pieces, cut within a character, with a pause between them."""
    line = json.dumps(json.loads(agent.chunk_line("größer ")), ensure_ascii=False).encode() + b"\n"
    middle = line.index("ö".encode()) + 1
    agent.write(line[:middle])
    time.sleep(0.3)
    agent.write(line[middle:])


@fault("turn")
def one_write(agent, request):
    """A whole turn comes in one write."""
    agent.write(b"".join(agent.chunk_line(word) for word in ("a ", "b ", "c")) + agent.end_line(request))


@fault("turn")
def no_last_newline(agent, request):
    """The answer has no newline at its end, and the agent exits."""
    agent.write(agent.chunk_line("whole") + agent.end_line(request).rstrip())
    os._exit(0)


@fault("in_turn")
def long_line(agent, request):
    """An update of as many bytes as its argument says, and a small one behind it."""
    size = int(agent.args[0])
    bare = len(agent.chunk_line("")) - 1
    agent.say("x" * (size - bare))
    agent.say("|small|")


@fault("turn")
def long_answer(agent, request):
    """The answer to the prompt is too long; the argument says where its id stands."""
    agent.say("before")
    too_long_answer(agent, request)


@fault("opening")
def long_opening(agent, request):
    """The answer to `session/new` is too long; the argument says where its id stands."""
    too_long_answer(agent, request)


def too_long_answer(agent, request):
    ident = '"id":%d' % request["id"]
    result = '"result":{"stopReason":"end_turn","filler":"%s"}' % ("x" * (33 << 20))
    members = [ident, result] if agent.args[0] == "first" else [result, ident]
    agent.write(("{" + ",".join(['"jsonrpc":"2.0"', *members]) + "}\n").encode())


@fault("start")
def endless_start(agent):
    """A line begins before the handshake and never ends."""
    while True:
        agent.write(b"y" * 65536)


@fault("turn")
def endless_turn(agent, request):
    """A line begins in a turn and never ends."""
    agent.say("so far")
    while True:
        agent.write(b"y" * 65536)


@fault("in_turn")
def invalid_utf8(agent, request):
    """Texts hold bytes that are no UTF-8: a lone byte, half a character, an overlong one, a surrogate."""
    for bad in (b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80"):
        agent.write(agent.chunk_line("<@>").replace(b"@", bad))


@fault("in_turn")
def lone_surrogates(agent, request):
    """Texts are cut within a pair of UTF-16: escapes of halves of a character, and of a whole one."""
    for escape in (b"\\ud83d", b"\\ude00", b"\\ude00\\ud83d", b"\\ud83d\\ude00"):
        agent.write(agent.chunk_line("<@>").replace(b"@", escape))


def nested(depth, around):
    return "[" * (depth - around) + "]" * (depth - around)


@fault("in_turn")
def nested_update(agent, request):
    """An update is nested as deep as its argument says."""
    content = {"type": "text", "text": "deep "}
    line = agent.update_line(sessionUpdate="agent_message_chunk", content=content, _meta={"a": "@"})
    agent.write(line.replace(b'"@"', nested(int(agent.args[0]), 4).encode()))


@fault("turn")
def nested_answer(agent, request):
    """The answer to the prompt is nested as deep as its argument says."""
    line = agent.line(id=request["id"], result={"stopReason": "end_turn", "more": "@"})
    agent.write(line.replace(b'"@"', nested(int(agent.args[0]), 2).encode()))


@fault("in_turn")
def nested_request(agent, request):
    """A request of its own is nested too deep."""
    agent.write(agent.line(id="deep", method="x/y", params="@").replace(b'"@"', nested(10_000, 1).encode()))
    agent.say(str(agent.answers(1)[0]["error"]["code"]) + " ")


@fault("turn")
def broken_answer(agent, request):
    """The answer to the prompt breaks off in the middle of its line."""
    agent.write(agent.end_line(request)[:-8] + b"\n")


@fault("in_turn")
def broken_request(agent, request):
    """A request of its own breaks off in the middle of its line."""
    agent.write(b'{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sess\n')
    answer = agent.answers(1)[0]
    agent.say(f'{answer["id"]} {answer["error"]["code"]} ')


@fault("in_turn")
def broken_updates(agent, request):
    """Updates that are no JSON, each for a reason of its own."""
    line = agent.chunk_line("x").strip()
    for bad in (line[:-1], line + b"}", line.replace(b":", b"=", 1), line.replace(b'"x"', b"'x'"),
                line.replace(b'"x"', b'"\\x"'), line.replace(b'"x"', b'"x",'), line + b" // end"):
        agent.write(bad + b"\n")


@fault("in_turn")
def batch(agent, request):
    """Frames come in an array, as older JSON-RPC has it."""
    agent.write(b"[" + agent.chunk_line("x").strip() + b"," + agent.chunk_line("y").strip() + b"]\n")


@fault("in_turn")
def wide_blanks(agent, request):
    """A line of a megabyte of blanks, and a frame with as many within."""
    agent.write(b" " * (1 << 20) + b"\n")
    agent.write(agent.chunk_line("wide ").replace(b'"method"', b" \t\r" * 350_000 + b'"method"'))


@fault("in_turn")
def no_version(agent, request):
    """Frames without `jsonrpc`, and with one of another version."""
    agent.write(agent.chunk_line("none ").replace(b'"jsonrpc":"2.0",', b""))
    agent.write(agent.chunk_line("old ").replace(b'"2.0"', b'"1.0"'))
    agent.write(agent.chunk_line("number ").replace(b'"2.0"', b"2.0"))
