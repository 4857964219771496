"""Faults in how it ends, and in how it does not: exits, signals, closed pipes, children, silence."""
import os
import signal
import subprocess
import sys
import time

from .agent import fault

FOREVER = 3600


def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def leave(agent, **options):
    """A process that ignores SIGTERM, and its number where whoever looks for what is left finds it."""
    program = "import signal,time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(flush=True)\ntime.sleep(3600)"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, **options)
    child.stdout.readline()  # it ignores it by now
    agent.note(f"pid {child.pid}")
    return child


# At the start

@fault("start")
def ends_at_once(agent):
    """It says why it cannot run, and exits."""
    agent.complain("the licence has run out\nask the harbour master\n")
    sys.exit(3)


@fault("start")
def not_found(agent):
    """It is a wrapper whose program is not there."""
    agent.complain("env: node: not found\n")
    sys.exit(127)


@fault("start")
def exits_well(agent):
    """It exits at once, as if all was well, and says nothing."""
    sys.exit(0)


@fault("start")
def killed_at_once(agent):
    """It is killed before it says anything."""
    os.kill(os.getpid(), signal.SIGKILL)


@fault("start")
def aborts(agent):
    """It aborts in the handshake."""
    agent.complain("assertion failed\n")
    os.abort()


@fault("start")
def not_acp(agent):
    """It is another program, and ends by itself."""
    agent.write(b"<html>welcome</html>\n")
    agent.complain("no protocol here\n")
    sys.exit(0)


@fault("start")
def silent(agent):
    """It never answers `initialize`."""
    agent.complain("waiting for the tide\n")
    time.sleep(FOREVER)


@fault("start")
def slow_start(agent):
    """It installs itself for five seconds first, and tells so on standard error."""
    for step in range(50):
        agent.complain(f"fetching {step}\n")
        time.sleep(0.1)


@fault("initialize")
def half_a_handshake(agent, request):
    """It exits in the middle of its answer to `initialize`."""
    agent.write(agent.line(id=request["id"], result={"protocolVersion": 1})[:-5])
    os._exit(4)


@fault("initialize")
def handshake_and_exit(agent, request):
    """It answers `initialize`, without a newline where it has an argument, and exits."""
    line = agent.line(id=request["id"], result={"protocolVersion": 1})
    agent.write(line.rstrip() if agent.args else line)
    os._exit(5)


@fault("opening")
def opening_and_exit(agent, request):
    """It answers `session/new`, without a newline where it has an argument, and exits."""
    line = agent.line(id=request["id"], result={"sessionId": "s1"})
    agent.write(line.rstrip() if agent.args else line)
    os._exit(5)


@fault("opening")
def silent_opening(agent, request):
    """It never answers `session/new`."""
    agent.complain("opening\n")


# In a turn

@fault("turn")
def ends_in_the_middle(agent, request):
    """It exits in the middle of its answer."""
    agent.say("half of an ")
    agent.complain("out of coal\n")
    os._exit(9)


@fault("turn")
def ends_in_a_frame(agent, request):
    """It exits in the middle of a frame: of an update, or of its answer where that is its argument."""
    agent.say("half of a ")
    line = agent.end_line(request) if agent.args else agent.chunk_line("frame")
    agent.write(line[:-6])
    os._exit(9)


@fault("turn")
def killed_in_turn(agent, request):
    """It is killed in the middle of its answer."""
    agent.say("shot ")
    os.kill(os.getpid(), signal.SIGSEGV)


@fault("turn")
def closes_output(agent, request):
    """It closes its standard output in the middle of a turn, and lives on."""
    agent.say("not a ")
    os.close(1)
    time.sleep(FOREVER)


@fault("start")
def closes_output_at_once(agent):
    """It closes its standard output at once, and lives on."""
    agent.complain("mute\n")
    os.close(1)
    time.sleep(FOREVER)


@fault("turn")
def closes_all(agent, request):
    """It closes all its pipes in the middle of a turn, and lives on."""
    agent.say("gone ")
    for pipe in (0, 1, 2):
        os.close(pipe)
    time.sleep(FOREVER)


@fault("turn")
def closes_input(agent, request):
    """It closes its standard input, and goes on talking and asking."""
    os.close(0)
    agent.send(id=1, method="x/y")
    agent.send(id=2, method="x/y")
    agent.say("deaf")
    agent.end(request)
    time.sleep(FOREVER)


@fault("in_turn")
def closes_errors(agent, request):
    """It closes its standard error, and goes on."""
    os.close(2)


@fault("turn")
def stops_itself(agent, request):
    """It is stopped in the middle of a turn, as by Ctrl-Z."""
    agent.say("one moment ")
    os.kill(os.getpid(), signal.SIGSTOP)


@fault("turn")
def ignores_everything(agent, request):
    """It never ends its turn, and hears neither the end of its input nor SIGTERM."""
    stubborn()
    agent.say("never mind")
    time.sleep(FOREVER)


@fault("afterwards")
def ignores_the_end(agent):
    """It goes on when its input has ended."""
    time.sleep(FOREVER)


@fault("afterwards")
def ignores_sigterm(agent):
    """It goes on when its input has ended, and when it is asked to end."""
    stubborn()
    time.sleep(FOREVER)


@fault("start")
def leaves_a_child(agent):
    """It has started another process in a session of its own, and both ignore everything."""
    stubborn()
    child = leave(agent, start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    agent.complain(f"child {child.pid}\n")
    agent.steps["afterwards"] = ignores_sigterm


@fault("turn")
def child_keeps_pipes(agent, request):
    """It exits in a turn; a process that it has started keeps its pipes open."""
    agent.say("orphan ")
    # A second standard output, for the first is how it says that it is ready.
    leave(agent, pass_fds=[os.dup(1), os.dup(2)])
    os._exit(0)


@fault("in_turn")
def strays(agent, request):
    """What it started has left it: its session, its parent, and its environment where there is an argument."""
    if os.fork() == 0:
        os.setsid()
        leave(agent, start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
              env={} if agent.args else None)
        os._exit(0)
    os.wait()


# Cancelling

@fault("turn")
def never_ends(agent, request):
    """It never ends its turn, and lets every `session/cancel` go."""
    agent.say("thinking ")


@fault("turn")
def cancel_fails(agent, request):
    """It answers a cancelled turn with an error."""
    agent.say("thinking ")
    agent.steps["cancel"] = lambda agent, _: agent.refuse(request, -32603, "This operation was aborted")


@fault("turn")
def cancel_ends_well(agent, request):
    """It answers a cancelled turn as if it had ended by itself."""
    agent.say("thinking ")

    def cancelled(agent, _):
        agent.say("and done")
        agent.end(request)

    agent.steps["cancel"] = cancelled


@fault("turn")
def cancel_asks(agent, request):
    """It asks for permission when it is cancelled, before it ends its turn."""
    agent.say("thinking ")

    def cancelled(agent, _):
        agent.write(agent.permission_line(1, [("yes", "allow_once"), ("no", "reject_once")]))
        agent.note(agent.answers(1)[0]["result"]["outcome"]["outcome"])
        agent.end(request, "cancelled")

    agent.steps["cancel"] = cancelled


@fault("turn")
def cancel_ends_it(agent, request):
    """It exits when it is cancelled."""
    agent.say("thinking ")
    agent.steps["cancel"] = lambda agent, _: os._exit(2)


# Reading

@fault("start")
def reads_slowly(agent):
    """It reads a byte at a time."""
    agent.read_bytes = 1


@fault("opening")
def never_reads_the_prompt(agent, request):
    """It reads nothing of a prompt, answers it, and lives on, or exits where it has an argument."""
    agent.answer(request, sessionId="s1")
    agent.complain("deaf from now on\n")
    if not agent.args:
        agent.await_word()
    agent.say("guessed")
    agent.end({"id": request["id"] + 1})
    if agent.args:
        os._exit(0)
    time.sleep(FOREVER)
