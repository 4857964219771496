"""The programs of docs/howto/script-an-agent.md are run as they stand there."""
import os
import re
import sys
import unittest
from pathlib import Path

from support import ROOT, program, run


class Howto(unittest.TestCase):
    def test_its_programs(self):
        folder = Path(program("watchbill-example-agent")).parent
        page = (ROOT / "docs/howto/script-an-agent.md").read_text(encoding="utf-8")
        programs = re.findall(r"^```python\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
        self.assertEqual(len(programs), 2)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        results = [run(sys.executable, "-W", "error", "-c", text, env=environment) for text in programs]
        for result in results:
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("# The berth list", results[0].stdout)
        self.assertIn("It was not allowed", results[0].stdout)
        self.assertTrue(results[0].stdout.endswith("\nend_turn\n"), results[0].stdout)
        self.assertIn("It is allowed", results[1].stdout)
        self.assertIn("It is not allowed", results[1].stdout)


if __name__ == "__main__":
    unittest.main()
