"""Histories in real folders, by watchbill.history."""
import gc
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from support import ROOT, run
from watchbill import history
from watchbill._library import lib
from watchbill.history import Collection, History

CHANNEL, OTHER = "01J00000000000000000000001", "01J00000000000000000000002"

# Puts messages from two threads until it is killed, and says which are kept.
WRITER = """
import sys, threading
from watchbill import history
kept = history.History(sys.argv[1])
lock = threading.Lock()
def write():
    while True:
        message = history.message(sys.argv[2], "x" * 300)
        kept.put(message=message)
        with lock:
            print(message["id"], flush=True)
threads = [threading.Thread(target=write) for _ in range(2)]
[thread.start() for thread in threads]
"""

# Has a history until its input ends.
HOLDER = """
import sys
from watchbill.history import History
with History(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

# What a fork may not do, and what its parent still can.
FORKS = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from watchbill import history
kept = history.History(sys.argv[1])
kept.put(message=history.message(sys.argv[2], "before"))
child = os.fork()
if child == 0:
    said = []
    for attempt in (lambda: kept.put(message=history.message(sys.argv[2], "child")),
                    lambda: history.History(sys.argv[1] + "-child")):
        try:
            attempt()
        except history.Refused as refused:
            said.append(str(refused))
    del kept, attempt  # closes nothing
    print("\\n".join(said), flush=True)
    os._exit(len(said) - 2)
assert os.waitpid(child, 0)[1] == 0
kept.put(message=history.message(sys.argv[2], "after"))
kept.close()
with history.History(sys.argv[1]) as again:
    print([m["parts"][0]["text"] for m in again.messages(sys.argv[2])])
"""


def ulid(n):
    return f"01J{n:023d}"


def message(n, text="number", channel=CHANNEL):
    return {
        "id": ulid(n),
        "channel": channel,
        "createdAt": "2026-10-01T18:12:00.000Z",
        "parts": [{"kind": "text", "text": f"{text} {n}"}],
    }


def text_of(kept):
    return kept["parts"][0]["text"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def opened(self, name="history", **options):
        kept = History(self.folder / name, **options)
        self.addCleanup(kept.close)
        return kept

    def filled(self, count, name="history"):
        kept = self.opened(name)
        with kept.batch() as batch:
            batch.put(channel={"id": CHANNEL, "name": "Bridge", "members": ["codex"]})
            batch.put(member={"channel": CHANNEL, "agent": "codex", "session": "s-1"})
            for n in range(1, count + 1):
                batch.put(message=message(n))
        return kept

    def numbers(self, kept, channel=CHANNEL, **options):
        return [int(one["id"][3:]) for one in kept.messages(channel, **options)]


class Opening(Case):
    def test_where_there_is_none(self):
        with self.assertRaises(history.NotFound) as raised:
            History(self.folder / "none", create=False)
        self.assertEqual(raised.exception.code, lib.WB_NOT_FOUND)
        self.assertIn(str(self.folder / "none"), str(raised.exception))
        self.assertFalse((self.folder / "none").exists())
        (self.folder / "file").write_bytes(b"")
        with self.assertRaises(history.Refused) as refused:
            History(self.folder / "file")
        self.assertNotIsInstance(refused.exception, history.InUse)
        with self.assertRaises(history.InvalidInput):
            history.inspect("")

    def test_one_that_this_process_has(self):
        kept = self.opened()
        with self.assertRaisesRegex(history.InUse, "in use by this process already") as raised:
            self.opened()
        self.assertEqual(raised.exception.pid, os.getpid())
        kept.close()
        with self.opened() as again:
            self.assertEqual(again.channels(), [])

    def test_one_that_another_process_has(self):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(self.folder / "history")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            self.assertEqual(holder.stdout.readline(), b"held\n")
            with self.assertRaisesRegex(history.InUse, f"in use by process {holder.pid};") as raised:
                self.opened()
            self.assertEqual(raised.exception.pid, holder.pid)
            self.assertEqual(history.inspect(self.folder / "history")["holder"], holder.pid)
        finally:
            holder.communicate(timeout=8 * 60)
        self.assertEqual(holder.returncode, 0)
        self.opened()

    def test_closed(self):
        kept = self.filled(3)
        walking = kept.messages(CHANNEL)
        self.assertEqual(next(walking)["id"], ulid(1))
        batch = kept.batch()
        kept.close()
        kept.close()
        batch.put(message=message(4))
        record = kept.ledger("people").record
        for attempt in (lambda: next(walking), batch.commit, kept.channels, kept.trail.end, lambda: record("x")):
            with self.assertRaisesRegex(history.Refused, "the history is closed"):
                attempt()
        self.assertEqual(kept.unreadable, 0)

    def test_one_that_is_dropped_is_closed(self):
        kept = History(self.folder / "history")
        walking = kept.messages(CHANNEL)
        del kept
        gc.collect()
        self.opened()
        with self.assertRaises(history.Refused):
            next(walking)

    def test_in_memory(self):
        with History(None) as kept:
            kept.put(message=message(1))
            self.assertEqual(self.numbers(kept), [1])

    def test_after_a_fork(self):
        result = run(sys.executable, "-c", FORKS, str(self.folder / "history"), CHANNEL)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"was opened by process \d+, and cannot be used in process \d+")
        self.assertIn("was forked from one that had opened a history", result.stdout)
        self.assertTrue(result.stdout.endswith("['before', 'after']\n"), result.stdout)


class Putting(Case):
    def test_what_is_put_is_read(self):
        kept = self.opened()
        channel = {"id": CHANNEL, "name": "Bridge", "description": "", "direct": "", "members": ["codex"]}
        member = {"channel": CHANNEL, "agent": "codex", "session": "s-1", "lastSeen": ""}
        one = {
            "id": ulid(1),
            "channel": CHANNEL,
            "createdAt": "2026-10-01T18:12:00.123Z",
            "agent": "codex",
            "role": "agent",
            "parts": [
                {"kind": "thought", "text": "…"},
                {"kind": "tool", "tool": {
                    "id": "1", "title": "Read", "kind": "read", "status": "completed", "input": "{}", "output": "",
                    "locations": [{"path": "a", "line": 3}, {"path": "b"}],
                    "diffs": [{"path": "a", "oldText": "", "newText": "x", "newFile": True}],
                }},
                {"kind": "plan", "entries": [{"content": "c", "priority": "high", "status": "pending"}]},
            ],
            "done": True, "queued": False, "stopReason": "end_turn", "error": "", "code": "",
        }
        kept.put(channel=channel, member=member, message=one)
        kept.put_commands("codex", [{"name": "plan"}])
        kept.close()
        kept = self.opened()
        self.assertEqual(kept.channels(), [channel])
        self.assertEqual(kept.members(CHANNEL), [member])
        self.assertEqual(list(kept.messages(CHANNEL)), [one])
        self.assertEqual(kept.commands("codex"), [{"name": "plan"}])
        self.assertIsNone(kept.commands("other"))
        self.assertEqual(kept.members(OTHER), [])

    def test_what_is_refused(self):
        kept = self.opened()
        for wrong, says in (
            ({}, 'expected "id"'),
            ({"id": "a", "channel": CHANNEL}, 'message "a": expected a ULID'),
            ({**message(1), "done": False}, "not finished"),
            ({**message(1), "role": "agnet"}, 'role is "agnet", and would be lost'),
            ({**message(1), "extra": {"a": 1}}, 'extra is {"a":1}, and would be lost'),
            ({**message(1), "createdAt": 5}, "createdAt is 5, and would be lost"),
            ({**message(1), "parts": [{"kind": "text", "text": "a"}, {"kind": "txet"}]}, "parts[1] is "),
            ({**message(1), "parts": "text"}, 'parts is "text"'),
            ([], "expected a JSON object"),
        ):
            with self.assertRaises(history.InvalidInput, msg=says) as raised:
                kept.put(message=wrong)
            self.assertIn(says, str(raised.exception))
            self.assertIsInstance(raised.exception, ValueError)
        deep = []
        for _ in range(100):
            deep = [deep]
        for attempt in (
            lambda: kept.put(member={"agent": "codex"}),
            lambda: kept.put(member={"channel": CHANNEL, "agent": ""}),
            lambda: kept.put(channel={"id": CHANNEL, "members": [1]}),
            lambda: kept.put(message={**message(1), "error": "x" * (17 << 20)}),
            lambda: kept.put_commands("codex", deep),
            lambda: kept.put_commands("", []),
            lambda: kept.last("?"),
            lambda: kept.before(CHANNEL, "?"),
            lambda: kept.messages("?"),
            lambda: kept.delete(CHANNEL.lower()),
        ):
            self.assertRaises(history.InvalidInput, attempt)
        self.assertRaises(ValueError, kept.put_commands, "codex", float("nan"))
        self.assertRaises(TypeError, kept.put_commands, "codex", {1, 2})
        self.assertRaises(TypeError, kept.put)
        self.assertRaises(TypeError, kept.put, member={"channel": 7, "agent": "codex"})
        self.assertEqual(kept.channels(), [])
        self.assertEqual(self.numbers(kept), [])

    def test_every_character(self):
        kept = self.opened()
        everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
        kept.put(message={**message(1), "agent": "\0\n\N{ship}\u202e", "parts": [{"kind": "text", "text": everything}]})
        self.assertEqual(text_of(kept.last(CHANNEL).messages[0]), everything)
        self.assertEqual(kept.last(CHANNEL).messages[0]["agent"], "\0\n\N{ship}\u202e")

    def test_surrogates(self):
        """Two that make a character are that character, others are U+FFFD; everywhere, also in keys."""
        kept = self.opened()
        given = "a\ud800b\udc00\ud83d\ude00\ud83d"
        kept_as = "a\ufffdb\ufffd\N{grinning face}\ufffd"
        kept.put(message={**message(1), "agent": given, "parts": [{"kind": "text", "text": given}]})
        self.assertEqual(text_of(kept.last(CHANNEL).messages[0]), kept_as)
        self.assertEqual(kept.last(CHANNEL).messages[0]["agent"], kept_as)
        kept.put_commands(given, [given])
        self.assertEqual(kept.commands(kept_as), [kept_as])
        kept.ledger("settings")[given] = {given: given}
        self.assertEqual(dict(kept.ledger("settings")), {kept_as: {kept_as: kept_as}})
        kept.trail.append(given, given, given, given)
        entry = next(kept.trail.entries())
        self.assertEqual((entry.who, entry.what, entry.about, entry.detail), (kept_as,) * 4)

    def test_a_batch_is_kept_whole_or_not_at_all(self):
        kept = self.opened()
        with self.assertRaisesRegex(RuntimeError, "enough"):
            with kept.batch() as batch:
                batch.put(message=message(1))
                raise RuntimeError("enough")
        self.assertEqual(self.numbers(kept), [])
        kept.put(message=message(2, channel=OTHER))
        kept.delete(OTHER)
        batch = kept.batch()
        self.assertEqual(batch.size, 0)
        batch.put(message=message(3))
        batch.put(message=message(4, channel=OTHER))
        with self.assertRaisesRegex(history.Refused, "was deleted"):
            batch.commit()
        self.assertEqual(self.numbers(kept), [])
        self.assertGreater(batch.size, 0)
        with kept.batch() as batch:
            batch.put(message=message(5))
            batch.trail("mia", "noted")
            batch.commit()
            self.assertEqual(batch.size, 0)
            batch.put(message=message(6))
        self.assertEqual(self.numbers(kept), [5, 6])
        self.assertEqual(len(list(kept.trail.entries())), 1)

    def test_threads(self):
        kept = self.opened()

        def put(first):
            for n in range(first, first + 25):
                kept.put(message=message(n))

        threads = [threading.Thread(target=put, args=(1 + 25 * n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.numbers(kept), list(range(1, 201)))

    def test_messages_of_this_moment(self):
        ids = [history.new_id() for _ in range(1000)]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertTrue(all(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", one) for one in ids))
        self.assertEqual(history.first_id_at(0), "0" * 26)
        kept = self.opened()
        one = history.message(CHANNEL, "hello", role="agent", agent="codex")
        kept.put(message=one)
        self.assertEqual(kept.last(CHANNEL).messages, [{**one, "done": True, "queued": False, "stopReason": "",
                                                        "error": "", "code": ""}])
        self.assertLess(history.first_id_at(1_700_000_000_000), one["id"])


class Reading(Case):
    def test_pages(self):
        kept = self.filled(250)
        page = kept.last(CHANNEL)
        self.assertEqual([one["id"] for one in page.messages], [ulid(n) for n in range(151, 251)])
        self.assertEqual((page.more, page.unreadable), (True, 0))
        page = kept.before(CHANNEL, page.messages[0]["id"], 200)
        self.assertEqual([one["id"] for one in page.messages], [ulid(n) for n in range(1, 151)])
        self.assertFalse(page.more)
        self.assertEqual(kept.last(OTHER).messages, [])

    def test_all_of_a_channel(self):
        kept = self.filled(1000)
        self.assertEqual(self.numbers(kept), list(range(1, 1001)))
        self.assertEqual(self.numbers(kept, newest_first=True), list(range(1000, 0, -1)))
        self.assertEqual(self.numbers(kept, OTHER), [])
        # What is deleted meanwhile ends it.
        walking = kept.messages(CHANNEL)
        next(walking)
        kept.delete(CHANNEL)
        self.assertEqual(list(walking), [])
        self.assertEqual(kept.unreadable, 0)

    def test_what_goes(self):
        kept = self.filled(2500)
        kept.put(message=message(3000, channel=OTHER))
        kept.compact()
        self.assertGreater(kept.channel_bytes(CHANNEL), 100_000)
        kept.prune(CHANNEL, keep=1100)
        self.assertEqual(self.numbers(kept), list(range(1401, 2501)))
        kept.prune(CHANNEL, before=ulid(2400))
        self.assertEqual(self.numbers(kept), list(range(2400, 2501)))
        kept.delete(CHANNEL)
        self.assertEqual(kept.channels(), [])
        self.assertEqual(kept.half_deleted(), [])
        self.assertEqual(self.numbers(kept, OTHER), [3000])
        with self.assertRaises(history.Refused):
            kept.put(message=message(1))
        kept.compact()
        self.assertGreater(kept.sizes().conversations, 0)
        self.assertEqual(kept.channel_bytes(CHANNEL), 0)


class Searching(Case):
    def test_hits(self):
        kept = self.opened()
        kept.put(message=message(1, "Der Liegeplatz \N{anchor}: Über Nacht"))
        kept.put(message=message(2, "Another thing"))
        kept.put(message={**message(3, "über"), "channel": OTHER, "role": "agent", "agent": "codex"})
        hits = list(kept.search("uber nacht"))
        self.assertEqual([hit.id for hit in hits], [ulid(1)])
        hit = hits[0]
        self.assertEqual((hit.channel, hit.role, hit.agent, hit.created_ms), (CHANNEL, "user", "", 1790878320000))
        self.assertEqual([hit.snippet[begin:end] for begin, end in hit.marks], ["Über", "Nacht"])
        self.assertFalse(hit.cut_before or hit.cut_after)
        self.assertEqual({hit.id for hit in kept.search("über")}, {ulid(1), ulid(3)})
        found = kept.search("über", OTHER)
        self.assertEqual([(hit.role, hit.agent) for hit in found], [("agent", "codex")])
        self.assertFalse(found.partial or found.bounded)
        self.assertEqual([hit.id for hit in kept.search('"another thing"')], [ulid(2)])
        self.assertEqual([hit.id for hit in kept.search("liege*")], [ulid(1)])
        self.assertEqual(list(kept.search('"thing another"')), [])
        for wrong in ("", "…", "x" * 1001, "\ud800"):
            self.assertRaises(history.InvalidInput, kept.search, wrong)
        self.assertRaises(history.InvalidInput, kept.search, "x", "nowhere")

    def test_more_than_a_page(self):
        kept = self.opened()
        with kept.batch() as batch:
            for n in range(1, 451):
                batch.put(message=message(n, "berth"))
        found = [hit.id for hit in kept.search("berth", limit=None)]
        self.assertEqual(len(found), 450)
        self.assertEqual(set(found), {ulid(n) for n in range(1, 451)})
        self.assertEqual([hit.id for hit in kept.search("berth", limit=250)], found[:250])
        self.assertEqual(len(list(kept.search("berth"))), 20)
        self.assertEqual(list(kept.search("berth", limit=0)), [])

    def test_the_index(self):
        kept = self.filled(1500)
        self.assertTrue(kept.search("number", index=False).partial)
        self.assertGreaterEqual(kept.index(), 1000)
        self.assertEqual(kept.index(), 0)
        self.assertFalse(kept.search("number", index=False).partial)
        kept.rebuild_index()
        self.assertTrue(kept.search("1234", index=False).partial)
        self.assertEqual([hit.id for hit in kept.search("1234")], [ulid(1234)])


class Ledgers(Case):
    def test_as_a_mapping(self):
        kept = self.opened()
        settings = kept.ledger("settings")
        self.assertEqual((len(settings), list(settings), dict(settings)), (0, [], {}))
        self.assertNotIn("theme", settings)
        self.assertIsNone(settings.get("theme"))
        settings["theme"] = {"dark": True, "tint": [1, 2.5, None, "ё"]}
        settings["language"] = "en"
        self.assertEqual(settings["theme"], {"dark": True, "tint": [1, 2.5, None, "ё"]})
        self.assertEqual(list(settings), ["language", "theme"])
        self.assertEqual(dict(kept.ledger(Collection.SETTINGS).items()), dict(settings))
        self.assertEqual(dict(kept.ledger(14)), dict(settings))
        self.assertEqual(dict(kept.ledger("people")), {})
        del settings["theme"]
        with self.assertRaises(KeyError):
            settings["theme"]
        with self.assertRaises(KeyError):
            del settings["theme"]
        self.assertEqual(settings.pop("language"), "en")
        settings.update({f"{n:04d}": n for n in range(20)})
        settings.clear()
        self.assertEqual(len(settings), 0)
        for wrong in ("nothing", 0, 16):
            self.assertRaisesRegex(ValueError, "there is no collection .*; there are policies, ", kept.ledger, wrong)
        self.assertRaises(history.InvalidInput, settings.__setitem__, "", 1)
        self.assertRaises(history.InvalidInput, settings.__setitem__, "x" * 4097, 1)
        self.assertRaises(ValueError, settings.__setitem__, "x", float("inf"))

    def test_keys_that_are_no_text(self):
        seen = self.opened().ledger("seen")
        key = history.then("mia") + history.newest_first(1_790_000_000_000)
        seen[key] = 1
        seen[b"\xff"] = 2
        shown = list(seen)
        self.assertEqual([seen[one] for one in shown], [1, 2])
        self.assertEqual(shown[1], "\udcff")
        del seen[shown[0]]
        self.assertEqual(list(seen.values()), [2])

    def test_in_its_second_order(self):
        kept = self.opened()
        outcomes = kept.ledger("outcomes")
        with kept.batch() as batch:
            for n in range(600):
                batch.record("outcomes", f"run {n:03d}", n, history.newest_first(n))
        self.assertEqual([record.value for record in outcomes.in_order()], list(range(599, -1, -1)))
        self.assertEqual([record.value for record in outcomes.records()], list(range(600)))
        self.assertEqual([one.key for one in outcomes.records("run 59", "run 597")], ["run 598", "run 599"])
        between = outcomes.in_order(start=history.newest_first(500), end=history.newest_first(497))
        self.assertEqual([record.value for record in between], [500, 499, 498])
        self.assertEqual(outcomes.record("run 007"), history.Record("run 007", 7, history.newest_first(7)))
        outcomes.put("run 007", "moved", history.newest_first(10_000))
        self.assertEqual(next(outcomes.in_order()).key, "run 007")
        outcomes.prune(keep=3)
        self.assertEqual([record.value for record in outcomes.in_order()], ["moved", 599, 598])
        outcomes.prune(behind=history.newest_first(599))
        self.assertEqual([record.value for record in outcomes.in_order()], ["moved"])
        with kept.batch() as batch:
            batch.forget("outcomes", "run 007")
            batch.forget("outcomes", "never")
        self.assertEqual(len(outcomes), 0)

    def test_orders(self):
        self.assertLess(history.newest_first(2), history.newest_first(1))
        self.assertLess(history.oldest_first(-1), history.oldest_first(1))
        self.assertLess(history.then("a") + b"\xff", history.then("ab"))


class Trails(Case):
    def test_it_is_read_and_verified(self):
        kept = self.opened()
        trail = kept.trail
        self.assertEqual(trail.end().number, 0)
        for n in range(1, 21):
            trail.append("mia" if n % 2 else "noa", "started", f"agent {n % 3}", {"n": n}, at_ms=1000 * n)
        with kept.batch() as batch:
            for n in range(21, 301):
                batch.trail("mia", "stopped", at_ms=1000 * n)
        entries = list(trail.entries())
        self.assertEqual([entry.number for entry in entries], list(range(300, 0, -1)))
        self.assertEqual(entries[-1], history.TrailEntry(1, 1000, "mia", "started", "agent 1", {"n": 1}))
        self.assertIsNone(entries[0].detail)
        self.assertEqual([e.number for e in trail.entries(who="noa", about="agent 1")], [16, 10, 4])
        self.assertEqual([e.number for e in trail.entries(from_ms=299_000)], [300, 299])
        self.assertEqual([e.number for e in trail.entries(before_ms=3000)], [2, 1])
        self.assertEqual(list(trail.entries(what="")), [])

        end = trail.end()
        self.assertEqual((end.number, len(end.hash)), (300, 64))
        told = []
        report = trail.verify(end, lambda done, of: told.append((done, of)))
        self.assertEqual(report, history.TrailReport(None, 1, end, 300, True))
        self.assertEqual(told[-1], (300, 300))
        self.assertIsNone(trail.verify().kept_is_there)
        other = trail.verify(history.TrailEnd(300, "0" * 64))
        self.assertEqual((other.fault.kind, other.kept_is_there), ("other", False))
        self.assertIn(other.fault.says, str(other))
        self.assertRaises(history.InvalidInput, trail.verify, history.TrailEnd(300, "no hash"))
        self.assertRaises(history.Stopped, trail.verify, None, lambda done, of: False)
        with self.assertRaises(ZeroDivisionError):
            trail.verify(progress=lambda done, of: 1 / 0)
        with self.assertRaises(KeyboardInterrupt):
            trail.verify(progress=lambda done, of: signal.raise_signal(signal.SIGINT))

        trail.prune(keep=200)
        trail.prune(before_ms=150_000)
        self.assertEqual((trail.verify(end).first, trail.verify(end).entries), (150, 151))
        trail.append("mia", "now")
        self.assertGreater(next(trail.entries()).at_ms, 1_700_000_000_000)


class Transfer(Case):
    def filled_whole(self):
        kept = self.filled(2000)
        kept.put_commands("codex", [{"name": "plan"}])
        kept.ledger("settings")[b"\xff"] = [1]
        kept.trail.append("mia", "noted")
        return kept

    def test_there_and_back(self):
        kept = self.filled_whole()
        report = kept.export(self.folder / "all.jsonl")
        written = {"channels": 1, "members": 1, "messages": 2000, "commands": 1, "records": 1, "trail": 1}
        self.assertEqual(report, {"written": written, "unreadable": 0})
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()), ["all.jsonl", "history"])
        self.assertEqual((self.folder / "all.jsonl").stat().st_mode & 0o777, 0o600)
        other = self.opened("other")
        told = []
        report = other.import_(self.folder / "all.jsonl", progress=lambda *so_far: told.append(so_far))
        self.assertEqual((report["kept"]["messages"], report["bad"], report["cut"]), (2000, 0, ""))
        # Before them all what it is, and behind them how many.
        self.assertEqual(told[-1], (sum(written.values()) + 2, (self.folder / "all.jsonl").stat().st_size))
        self.assertEqual(other.trail.end(), kept.trail.end())
        again = io.BytesIO()
        other.export(again)
        self.assertEqual(again.getvalue(), (self.folder / "all.jsonl").read_bytes())
        again.seek(0)
        self.assertEqual(other.import_(again)["already"]["messages"], 2000)

        part = io.BytesIO()
        self.assertEqual(kept.export(part, channel=CHANNEL)["written"]["records"], 0)
        self.assertEqual(kept.export(io.BytesIO(), ledger=False)["written"]["records"], 0)
        self.assertRaises(history.InvalidInput, kept.export, part, channel=CHANNEL, trail=True)
        self.assertRaises(history.NotFound, kept.export, part, channel=OTHER)
        with self.assertRaises(history.NotFound):
            kept.export(self.folder / "nothing", channel=OTHER)
        self.assertFalse(any(one.name.startswith("nothing") for one in self.folder.iterdir()))

    def test_a_file_that_takes_little_or_nothing(self):
        kept = self.filled_whole()
        whole = io.BytesIO()
        kept.export(whole)

        class Small(io.BytesIO):
            def write(self, data):
                return super().write(data[:1000])

        small = Small()
        kept.export(small)
        self.assertEqual(small.getvalue(), whole.getvalue())

        class Broken(io.BytesIO):
            def write(self, data):
                raise OSError("the tape is torn")

        with self.assertRaisesRegex(OSError, "the tape is torn"):
            kept.export(Broken())
        with self.assertRaises(TypeError):
            kept.export(io.StringIO())
        with self.assertRaises(FileNotFoundError):
            kept.export(self.folder / "none" / "file")

        # Of what it replaces nothing is lost where it fails.
        (self.folder / "old").write_text("old")
        with self.assertRaises(history.NotFound):
            kept.export(self.folder / "old", channel=OTHER)
        self.assertEqual((self.folder / "old").read_text(), "old")
        kept.export(self.folder / "old")
        self.assertEqual((self.folder / "old").read_bytes(), whole.getvalue())

    def test_a_file_that_is_none(self):
        kept = self.filled_whole()
        with self.assertRaisesRegex(history.InvalidInput, "this is no exported history"):
            kept.import_(io.BytesIO(b"hello\n"))
        with self.assertRaisesRegex(TypeError, "read as bytes"):
            kept.import_(io.StringIO("hello"))
        whole = io.BytesIO()
        kept.export(whole)
        lines = whole.getvalue().splitlines(keepends=True)
        lines[100] = b'{"message":{"id":7}}\n'
        other = self.opened("other")
        report = other.import_(io.BytesIO(b"".join(lines[:-1])))
        self.assertEqual((report["bad"], report["badLines"][0]["line"]), (1, 101))
        self.assertIn("no last line", report["cut"])
        strict = self.opened("strict")
        with self.assertRaisesRegex(history.InvalidInput, "line 101") as raised:
            strict.import_(io.BytesIO(b"".join(lines)), strict=True)
        self.assertEqual(raised.exception.report["kept"]["messages"], len(self.numbers(strict)))
        self.assertLess(len(self.numbers(strict)), 100)
        with self.assertRaises(history.Stopped) as stopped:
            strict.import_(whole_again(whole), progress=lambda lines, bytes: False)
        self.assertEqual(stopped.exception.report["bad"], 0)

    def test_markdown(self):
        kept = self.filled(3)
        page = io.BytesIO()
        kept.export_markdown(page, CHANNEL, words={"user": "Benutzerin"})
        text = page.getvalue().decode()
        self.assertIn("# Bridge", text)
        self.assertIn("Benutzerin", text)
        self.assertIn("number 3", text)
        self.assertRaises(history.InvalidInput, kept.export_markdown, page, CHANNEL, words={"users": "x"})
        self.assertRaises(history.NotFound, kept.export_markdown, page, OTHER)

    def test_a_backup_while_threads_write(self):
        kept = self.filled(2000)
        written, stop = [], threading.Event()

        def write(first):
            n = first
            while not stop.is_set():
                kept.put(message=message(n))
                written.append(n)
                n += 1

        threads = [threading.Thread(target=write, args=(10_000 * n,)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        try:
            told = []
            for copy in ("one", "two"):
                before = set(written)
                kept.backup(self.folder / copy, lambda done, of: told.append(done))
                after = set(written)
                with self.opened(copy) as opened:
                    there = set(self.numbers(opened))
                    self.assertEqual(opened.unreadable, 0)
                    self.assertEqual(len(opened.channels()), 1)
                self.assertLessEqual(before | set(range(1, 2001)), there)
                # Each of the four may be between its commit and its note of it.
                self.assertLessEqual(len(there - after - set(range(1, 2001))), 4)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertTrue(told)
        self.assertEqual(set(self.numbers(kept)), set(written) | set(range(1, 2001)))
        with self.assertRaises(history.Refused):
            kept.backup(self.folder / "one")
        with self.assertRaises(history.Refused):
            kept.backup(self.folder / "history" / "within")
        with self.assertRaises(history.Stopped):
            kept.backup(self.folder / "three", lambda done, of: False)
        with self.assertRaises(ZeroDivisionError):
            kept.backup(self.folder / "three", lambda done, of: 1 / 0)
        self.assertEqual([one.name for one in self.folder.iterdir() if one.name.startswith("three")], [])

    def test_closing_waits_for_what_runs(self):
        kept = self.filled(2000)
        within, go_on, ends = threading.Event(), threading.Event(), []

        class Slow(io.BytesIO):
            def write(self, data):
                within.set()
                go_on.wait(60)
                return super().write(data)

        def export():
            kept.export(Slow())
            ends.append("export")

        def close():
            kept.close()
            ends.append("close")

        exporting, closing = threading.Thread(target=export), threading.Thread(target=close)
        exporting.start()
        self.assertTrue(within.wait(60))
        closing.start()
        while True:  # until it has begun to close
            try:
                kept.channels()
            except history.Refused:
                break
        self.assertEqual(ends, [])
        go_on.set()
        exporting.join()
        closing.join()
        self.assertEqual(ends[-1:], ["close"])
        self.opened()

    def test_what_is_called_back_cannot_close(self):
        kept = self.filled(10)

        class Closing(io.BytesIO):
            def write(self, data):
                kept.close()

        with self.assertRaisesRegex(history.Refused, "calls back"):
            kept.export(Closing())
        self.assertEqual(len(self.numbers(kept)), 10)


def whole_again(file):
    return io.BytesIO(file.getvalue())


class Damage(Case):
    def test_what_is_seen_and_done(self):
        self.filled(100).close()
        folder = self.folder / "history"
        found = history.inspect(folder, read_all=True)
        self.assertEqual((found["there"], found["history"], found["holder"]), (True, True, None))
        self.assertEqual(found["opens"], {"code": lib.WB_OK, "text": ""})
        self.assertEqual(found["records"]["messages"], {"readable": 100, "unreadable": 0})
        self.assertIsNone(history.inspect(folder)["records"])
        self.assertFalse(history.inspect(self.folder / "none")["there"])
        self.assertFalse(history.repair(folder)["needed"])

        (folder / "CURRENT").unlink()
        with self.assertRaises(history.Damaged) as raised:
            History(folder)
        self.assertIn(str(folder), str(raised.exception))
        self.assertEqual(history.inspect(folder)["opens"]["code"], lib.WB_DATA_LOSS)
        report = history.salvage(folder, self.folder / "saved")
        self.assertEqual(report["records"]["messages"], {"readable": 100, "unreadable": 0})
        with self.opened("saved") as saved:
            self.assertEqual(self.numbers(saved), list(range(1, 101)))
        with self.assertRaises(history.NotFound):
            history.salvage(self.folder / "none", self.folder / "new")
        report = history.repair(folder)
        self.assertTrue(report["needed"])
        self.assertEqual(report["copy"], f"{folder}.damaged-1")
        self.assertEqual(self.numbers(self.opened()), list(range(1, 101)))


class Killed(Case):
    def test_what_was_said_to_be_kept_is_there(self):
        seed = int(os.environ.get("WATCHBILL_SEED", random.randrange(2**32)))
        print(f"seed {seed} (WATCHBILL_SEED)", file=sys.stderr)
        chance = random.Random(seed)
        said = set()
        command = [sys.executable, "-c", WRITER, str(self.folder / "history"), CHANNEL]
        for _ in range(30):
            with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
                for _ in range(chance.randrange(1, 12)):
                    said.add(writer.stdout.readline())
                writer.kill()
                said.update(writer.stdout.read().splitlines(keepends=True))
            self.assertEqual(writer.returncode, -signal.SIGKILL)
            with self.opened() as kept:
                there = {one["id"] for one in kept.messages(CHANNEL)}
                self.assertEqual(kept.unreadable, 0)
            # One that was said in part was not said.
            whole = {line.decode().strip() for line in said if line.endswith(b"\n")}
            self.assertLessEqual(whole, there)
        self.assertGreaterEqual(len(said), 30)


class Howto(Case):
    def test_its_programs(self):
        page = (ROOT / "docs/howto/keep-conversations.md").read_text(encoding="utf-8")
        programs = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
        self.assertEqual(len(programs), 2)
        results = [run(sys.executable, "-W", "error", "-c", text, cwd=self.folder) for text in programs]
        for result in results:
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("harbour Berth 4, from noon on.", results[0].stdout)
        self.assertIn("Berth 4, from noon on. [(0, 5), (14, 18)]", results[0].stdout)
        lines = (self.folder / "notes.jsonl").read_bytes().splitlines()
        self.assertEqual(json.loads(lines[-1])["end"]["messages"], 2)
        self.assertEqual(len(self.opened("notes-copy").channels()), 1)
        self.assertIn(results[1].stdout, page)


if __name__ == "__main__":
    unittest.main()
