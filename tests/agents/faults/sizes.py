"""Faults of number and size: more than anybody needs, of what is right or not."""
import os
import threading

from .agent import fault, outcomes


@fault("start")
def floods(agent):
    """It writes lines that are no messages without end."""
    while True:
        agent.write((b"y" * 4000 + b"\n") * 16)


@fault("start")
def noisy_start(agent):
    """As many lines that are no messages as its argument says come before the first frame."""
    agent.write(b"noise\n" * int(agent.args[0]))


@fault("in_turn")
def noisy_turn(agent, request):
    """As many lines that are no messages as its argument says come in the middle of a turn."""
    agent.write(b"noise\n" * int(agent.args[0]))


@fault("in_turn")
def small_updates(agent, request):
    """It says one letter at a time, as often as its argument says."""
    lines = agent.chunk_line("x") * 1000
    for _ in range(int(agent.args[0]) // 1000):
        agent.write(lines)


@fault("turn")
def asks_and_never_reads(agent, request):
    """It asks without end, and reads nothing."""
    block = b"".join(agent.line(id=number, method="none/such") for number in range(1000))
    while True:
        agent.write(block)


@fault("in_turn")
def asks_before_reading(agent, request):
    """It asks ten thousand times before it reads the first answer."""
    agent.write(b"".join(agent.line(id=number, method="none/such") for number in range(10_000)))
    answers = agent.answers(10_000)
    in_order = [answer["id"] for answer in answers] == list(range(10_000))
    agent.say(f'{in_order} {({answer["error"]["code"] for answer in answers})} ')


@fault("in_turn")
def asks_for_much(agent, request):
    """It asks for five thousand permissions at once."""
    agent.write(b"".join(agent.permission_line(number, [("yes", "allow_once"), ("no", "reject_once")])
                         for number in range(5000)))
    chosen = outcomes(agent.answers(5000)).split()
    agent.say(f"{len(chosen)} {set(chosen)} ")


@fault("in_turn")
def many_sessions(agent, request):
    """It tells of a thousand sessions that nobody opened."""
    agent.write(b"".join(agent.chunk_line("x", session=f"n{number}") for number in range(1000)))


@fault("in_turn")
def many_tool_calls(agent, request):
    """It makes two thousand tool calls and ends none of them."""
    agent.write(b"".join(
        agent.update_line(sessionUpdate="tool_call", toolCallId=f"t{number}", title=f"Call {number}")
        for number in range(2000)))


@fault("start")
def endless_errors(agent):
    """Another thread writes to standard error without end."""
    def write():
        while True:
            os.write(2, b"grumble\n" * 1000)

    threading.Thread(target=write, daemon=True).start()


@fault("in_turn")
def errors_without_newline(agent, request):
    """What it writes on standard error ends without a newline."""
    agent.complain("one line\nand a half")


@fault("in_turn")
def long_error(agent, request):
    """It writes a line of a megabyte on standard error, and a short one."""
    agent.complain("ü" * (1 << 19) + "\nshort\n")


@fault("in_turn")
def binary_errors(agent, request):
    """It writes bytes on standard error that are no text, and sequences for a terminal."""
    agent.complain(b"\xff\xfe\0bin\x1b]0;title\x07ary\x1b[2J\r\n\n")
