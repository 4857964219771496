# Usage: keep_conversations.sh PROGRAM
#
# What the program of docs/howto/keep-conversations.md keeps in one run is there in the next.
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

expect() {
  case $2 in
    *"$1"*) ;;
    *)
      echo "expected $1, and it said: $2" >&2
      exit 1
      ;;
  esac
}

first=$("$program" notes keep 'Berth 4 is "free" from noon on.')
expect 'kept ' "$first"
"$program" notes keep 'Nothing else.' >kept
expect "${first#kept }  Berth 4 is \"free\"" "$("$program" notes find 'NOON berth')"
[ "$("$program" notes all | wc -l)" -eq 2 ]
"$program" notes export >lines
expect '"messages":2,' "$(tail -n 1 lines)"
if "$program" notes keep "$(printf 'no text: \377')" 2>said; then exit 1; fi
expect 'UTF-8' "$(cat said)"
if "$program" notes/CURRENT all 2>said; then exit 1; fi
expect 'notes/CURRENT' "$(cat said)"
