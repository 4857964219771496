"""The golden conversation and updates of an agent, through the C API. What it hands on as it came is compared by what
it says; the C++ tests compare how that is written again."""
import json
import unittest

from support import ROOT
from watchbill._client import Client
from watchbill._library import lib

FOLDER = ROOT / "tests/golden/acp"


def lines(name):
    with open(FOLDER / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def in_words(event):
    """As the golden file has it; of what is handed on as it came, the session and the kind."""
    kind = event.kind
    if kind == lib.WB_ACP_HANDSHAKE_DONE:
        return f"handshake {json.loads(event.json)['agentInfo']}"
    if kind == lib.WB_ACP_SESSION_OPENED:
        return f"session {event.call} {event.session}"
    if kind == lib.WB_ACP_PROMPT_ENDED:
        return f"prompt {event.call} of {event.session}: {event.word}{event.text or ''}"
    if kind == lib.WB_ACP_UPDATED:
        return f"update {event.session} {event.word} {event.text or '-'}"
    if kind == lib.WB_ACP_PERMISSION_ASKED:
        return f"permission {json.loads(event.json)}"
    if kind == lib.WB_ACP_PERMISSION_CLOSED:
        return f"closed {event.call}"
    if kind == lib.WB_ACP_NOTIFIED:
        return f"notified {event.word} {event.json.decode()}"
    if kind == lib.WB_ACP_SKIPPED:
        return f"skipped: {event.text}"
    raise AssertionError(f"the conversation has no {event}")


def expected(reading):
    word, _, rest = reading.partition(" ")
    if word == "handshake":
        return f"handshake {json.loads(rest)['agentInfo']}"
    if word == "permission":
        return f"permission {json.loads(rest)}"
    if word == "update":
        said = json.loads(rest)
        update = said["update"]
        chunk = update["sessionUpdate"].endswith("_chunk")
        return f"update {said['sessionId']} {update['sessionUpdate']} {update['content']['text'] if chunk else '-'}"
    return reading


def heard(pieces):
    """What a client says of them that asks for a handshake, a session and, once it has it, a turn."""
    client, said = Client(), []
    client.initialize("golden", "1")
    for piece in pieces:
        client.feed(piece)
        for event in client.events():
            said.append(in_words(event))
            if event.kind == lib.WB_ACP_HANDSHAKE_DONE:
                client.session_new("/project")
            elif event.kind == lib.WB_ACP_SESSION_OPENED:
                client.prompt(event.session, "hello")
    return said


class Golden(unittest.TestCase):
    def test_the_conversation_in_any_pieces(self):
        conversation = lines("conversation.ndjson")
        data = "".join(line["in"] + "\n" for line in conversation).encode()
        readings = [expected(reading) for line in conversation for reading in line["reads"]]
        self.assertGreater(len(readings), 3)
        self.assertEqual(heard([data]), readings)
        self.assertEqual(heard(data[at : at + 1] for at in range(len(data))), readings)
        for at in range(len(data)):
            self.assertEqual(heard([data[:at], data[at:]]), readings, f"split at {at}")

    def test_every_update(self):
        updates = lines("updates.ndjson")
        self.assertGreaterEqual(len(updates), 14)
        for params in updates:
            client = Client()
            client.adopt(params["sessionId"])
            client.feed(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n")
            (event,) = client.events()
            update = params["update"]
            self.assertEqual((event.kind, event.session, event.word),
                             (lib.WB_ACP_UPDATED, params["sessionId"], update["sessionUpdate"]))
            self.assertEqual(json.loads(event.json), update)
            if event.word.endswith("_chunk"):
                self.assertEqual(event.text, update["content"].get("text"))
            else:
                self.assertIsNone(event.text)


if __name__ == "__main__":
    unittest.main()
