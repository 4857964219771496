"""The declarations that cffi reads are those of the headers, and a library that is missing is said so."""
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT, run
from watchbill import __version__, _library
from watchbill._client import CallError, Client
from watchbill._library import ffi, lib


def plain(header):
    """A header without comments, preprocessor and what is for C++, its blanks made equal."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", " ", text, flags=re.MULTILINE).replace("WB_API ", " ")
    return " ".join(text.split())


def declarations(text):
    """Each as one line: up to a semicolon that is not within braces."""
    return [" ".join(one.split()) for one in re.findall(r"[^;{}]+(?:\{[^}]*\})?[^;{}]*;", text)]


class Declarations(unittest.TestCase):
    def test_they_are_those_of_the_headers(self):
        headers = [ROOT / "libbase/include/watchbill/base.h", ROOT / "libacp/include/watchbill/acp.h"]
        headers += sorted((ROOT / "libhistory/include/watchbill").glob("history*.h"))
        text = " ".join(plain(header.read_text(encoding="utf-8")) for header in headers)
        ours = declarations(_library.DECLARATIONS)
        self.assertGreater(len(ours), 20)
        for declaration in ours:
            self.assertIn(declaration, text)

    def test_sizes_and_places(self):
        text = (ROOT / "tests/abi/sizes.c").read_text(encoding="utf-8")
        compared = 0
        for name, size in re.findall(r"^SIZE\((\w+), (\d+)\);", text, flags=re.MULTILINE):
            if re.search(rf"\b{name}\b", _library.DECLARATIONS):
                self.assertEqual(ffi.sizeof(name), int(size), name)
                compared += 1
        for name, member, place in re.findall(r"^PLACE\((\w+), (\w+), (\d+)\);", text, flags=re.MULTILINE):
            if re.search(rf"\b{name}\b", _library.DECLARATIONS):
                self.assertEqual(ffi.offsetof(name, member), int(place), f"{name}.{member}")
                compared += 1
        self.assertGreaterEqual(compared, 7)

    def test_functions_are_exported(self):
        exported = (ROOT / "tests/abi/exported.txt").read_text(encoding="utf-8").split()
        functions = re.findall(r"\b(wb_\w+)\(", _library.DECLARATIONS)
        self.assertGreater(len(functions), 15)
        for name in functions:
            self.assertIn(name, exported)
            self.assertIsNotNone(getattr(lib, name))

    def test_versions(self):
        header = (ROOT / "libbase/include/watchbill/base.h").read_text(encoding="utf-8")
        self.assertIn(f"#define WB_ABI_VERSION {_library.ABI_VERSION}\n", header)
        version = lib.wb_version()
        self.assertEqual(ffi.buffer(version.data, version.size)[:].decode(), __version__)


class Loading(unittest.TestCase):
    def attempt(self, **environment):
        base = {name: value for name, value in os.environ.items() if name != "WATCHBILL_LIBRARY"}
        # No library beside the package: whether the system has one is not ours to say.
        return run(sys.executable, "-c", "import watchbill.acp", env={**base, **environment})

    def test_one_that_is_named_and_missing(self):
        result = self.attempt(WATCHBILL_LIBRARY="/nowhere/libwatchbill.so.0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ImportError: watchbill's shared library could not be loaded:", result.stderr)
        self.assertIn("/nowhere/libwatchbill.so.0: ", result.stderr)
        self.assertIn("WATCHBILL_LIBRARY", result.stderr)

    def test_another_library(self):
        result = self.attempt(WATCHBILL_LIBRARY="libc.so.6")
        self.assertEqual(result.returncode, 1)
        self.assertIn("wb_abi_version", result.stderr)

    def test_one_beside_the_package_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder, "watchbill")
            package.mkdir()
            for file in Path(_library.__file__).parent.glob("*.py"):
                (package / file.name).write_bytes(file.read_bytes())
            (package / _library.FILE_NAME).write_bytes(b"no library")
            result = self.attempt(PYTHONPATH=folder)
            # It is the first that is tried; the system may have one.
            if result.returncode != 0:
                self.assertIn(f"{package / _library.FILE_NAME}: ", result.stderr)
                self.assertIn("where the system keeps its libraries", result.stderr)
            (package / _library.FILE_NAME).unlink()
            (package / _library.FILE_NAME).symlink_to(os.environ["WATCHBILL_LIBRARY"])
            said = run(sys.executable, "-c", "import watchbill._library as l; print(l._places()[0])",
                       env={**os.environ, "PYTHONPATH": folder, "WATCHBILL_LIBRARY": ""})
            self.assertEqual(said.stdout.strip(), str(package / _library.FILE_NAME), said.stderr)


class Session(unittest.TestCase):
    """The pure session, by bytes."""

    def test_a_turn_byte_by_byte(self):
        client = Client()
        client.initialize("test", "1")
        self.assertIn(b'"method":"initialize"', client.take_output())
        self.assertEqual(client.take_output(), b"")
        self.assertIsNotNone(client.deadline())
        events = []

        def feed(text):
            for byte in text.encode() + b"\n":
                client.feed(bytes([byte]))
                events.extend(client.events())

        feed('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}')
        self.assertEqual([e.kind for e in events], [lib.WB_ACP_HANDSHAKE_DONE])
        self.assertIsNone(client.deadline())
        call = client.session_new("/tmp")
        feed('{"jsonrpc":"2.0","id":2,"result":{"sessionId":"é"}}')
        self.assertEqual((events[1].kind, events[1].call, events[1].session), (lib.WB_ACP_SESSION_OPENED, call, "é"))
        prompt = client.prompt("é", "\N{ship} \ud800")
        self.assertIn("\N{ship} ?".encode(), client.take_output())
        with self.assertRaisesRegex(CallError, "one prompt at a time") as raised:
            client.prompt("é", "again")
        self.assertEqual(raised.exception.code, lib.WB_FAILED_PRECONDITION)
        client.feed(b"")
        client.end("exit code 3")
        events.extend(client.events())
        ended = events[-1]
        self.assertEqual((ended.kind, ended.call, ended.text), (lib.WB_ACP_PROMPT_ENDED, prompt, "exit code 3"))


if __name__ == "__main__":
    unittest.main()
