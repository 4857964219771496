"""The names that the shared library exports are those of the list, no more and no fewer."""
import subprocess
import sys

nm, library, listed = sys.argv[1:]
lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
found = sorted({line.split()[-1].split("@")[0] for line in lines.splitlines()} - {"WATCHBILL_0"})
with open(listed, encoding="utf-8") as file:
    wanted = file.read().split()
for name in sorted(set(wanted) - set(found)):
    print(f"no longer exported: {name}")
for name in sorted(set(found) - set(wanted)):
    print(f"exported and not on the list: {name}")
if wanted != sorted(wanted):
    print("the list is not in order")
sys.exit(0 if found == wanted else 1)
