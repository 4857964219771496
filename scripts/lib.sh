# Shared by the scripts beside this file, which source it. Expects `set -euo pipefail`.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# The process group of the step that is running now, or empty.
step_group=

# To standard error; a terminal that is gone is no reason to stop in the middle of something.
say() { printf '%s\n' "$*" >&2 || true; }

die() {
  say "$(basename "$0"): $*"
  exit 1
}

# usage FILE: prints the comment block at the top of a script, which is its help.
usage() { sed -n '2,/^$/{s/^# \{0,1\}//p}' "$1"; }

elapsed() {
  local seconds=$1
  if ((seconds < 60)); then
    printf '%d s' "$seconds"
  else
    printf '%d min %02d s' $((seconds / 60)) $((seconds % 60))
  fi
}

# step WHAT COMMAND...: runs a command that may take long and says how long it took.
#
# The command gets a process group of its own and bash waits for it, so that a signal to the script is
# handled at once (bash delays traps while a foreground command runs) and the whole tree can be ended.
# Commands that bash starts in the background ignore Ctrl-C: `env` gives them the usual signals back.
step() {
  local what=$1 start=$SECONDS rc=0
  shift
  say "$what ..."
  # Descriptor 9 is a script's lock, which must go with the script.
  setsid env --default-signal=INT,QUIT,PIPE "$@" 9>&- &
  step_group=$!
  wait "$step_group" || rc=$?
  step_group=
  if ((rc == 0)); then
    say "$what: done in $(elapsed $((SECONDS - start)))"
  fi
  return "$rc"
}

# Ends the step that is running, if any; for a script's EXIT trap.
end_step() {
  [[ -n $step_group ]] || return 0
  kill -TERM -- "-$step_group" 2>/dev/null || true
  wait "$step_group" 2>/dev/null || true
  step_group=
}

# Makes Ctrl-C, TERM and a closed terminal go through the EXIT trap.
exit_on_signals() {
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 141' PIPE
  trap 'exit 143' TERM
}

# How many compilers may run at once: one a core, as long as each can have 1.5 GB of memory.
build_jobs() {
  local cores kilobytes jobs
  cores=$(nproc)
  kilobytes=$(awk '/^MemTotal:/ {print $2}' /proc/meminfo)
  jobs=$((kilobytes / 1500000))
  ((jobs < cores)) || jobs=$cores
  ((jobs > 0)) || jobs=1
  printf '%d' "$jobs"
}

# Prints the browser for the tests, if there is one.
find_browser() {
  local name file
  for name in "${WATCHBILL_CHROMIUM:-chromium}" chromium google-chrome google-chrome-stable chromium-browser; do
    file=$(command -v "$name") || continue
    # Ubuntu's chromium-browser is a script that offers to install a snap.
    if head -c 4096 "$file" | grep -aq 'snap install'; then continue; fi
    printf '%s' "$file"
    return
  done
}

build_lock=$root/build/.lock

# Two builds in one folder would disturb each other, so they queue.
wait_for_build() {
  mkdir -p "$root/build"
  flock --nonblock "$build_lock" true || say "Another build is running in this folder; waiting for it."
}

configure() {
  local preset=$1 options=()
  # Warnings are errors where every change is checked, and only there: another compiler may warn of more.
  [[ ${CI:-} != true ]] || options=(-DWATCHBILL_WERROR=ON)
  wait_for_build
  cd "$root" || exit
  step "Configuring ($preset)" flock --close "$build_lock" cmake --preset "$preset" "${options[@]}" \
    >"$root/build/configure-$preset.log" ||
    die "configuring failed; what CMake said is above and in build/configure-$preset.log"
}

# configure_and_build PRESET [TARGET...]
configure_and_build() {
  local preset=$1 targets=()
  shift
  (($# == 0)) || targets=(--target "$@")
  configure "$preset"
  local first=no start
  [[ -e build/$preset/.ninja_log ]] || first=yes
  [[ $first == no ]] ||
    say "The first build compiles everything: expect three to ten minutes on two cores. Later ones take seconds."
  start=$SECONDS
  step "Compiling ($preset)" flock --close "$build_lock" \
    cmake --build --preset "$preset" --parallel "$(build_jobs)" "${targets[@]}" >&2 ||
    die "compiling failed; the compiler's message is above"
  [[ $first == no || $# -gt 0 ]] || say_cost $((SECONDS - start))
}

# What a thousand lines cost in a build of everything, so that a header that makes all of it dear is noticed.
say_cost() {
  local seconds=$1 lines
  lines=$(find "$root"/lib* "$root/apps" "$root/bindings" "$root/tests" -name node_modules -prune -o \
    \( -name '*.cc' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) -print0 | xargs -0 cat | wc -l)
  say "$lines lines of C and C++ took $(elapsed "$seconds") on $(nproc) cores:" \
    "$(awk -v s="$seconds" -v l="$lines" 'BEGIN { printf "%.1f", s * 1000 / l }') s a thousand lines."
}

# run_tests PRESET [CTEST-ARGUMENT...]: says nothing after ctest, whose summary is to be the last thing seen.
run_tests() {
  local rc=0
  cd "$root" || exit
  setsid env --default-signal=INT,QUIT,PIPE ctest --preset "$@" &
  step_group=$!
  wait "$step_group" || rc=$?
  step_group=
  return "$rc"
}
