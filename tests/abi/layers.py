"""The four libraries do not include each other; apps translate. No Boost, LevelDB or app header is in a public header."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
LIBRARIES = {"acp", "monitorproto", "board", "history"}
bad = []
seen = 0
for library in sorted(LIBRARIES):
    for path in sorted((root / f"lib{library}").rglob("*")):
        if path.suffix not in {".h", ".hpp", ".cc"}:
            continue
        seen += 1
        public = "include" in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
            if not match:
                continue
            name = match.group(1)
            where = f"{path.relative_to(root)}:{number}: {name}"
            other = re.match(r"(?:watchbill/)?(\w+)(?:/|\.h$)", name)
            if name.startswith("watchbill/") and other and other.group(1) in LIBRARIES - {library}:
                bad.append(where)
            if re.match(r"watchbill/(net|monitor|runner)/|apps/", name):
                bad.append(where)
            if public and re.match(r"boost/|leveldb/|openssl/|json_document\.hpp", name):
                bad.append(where)
if seen < 10:
    bad.append("the libraries were not found")
print("\n".join(bad) or f"ok: {seen} files")
sys.exit(1 if bad else 0)
