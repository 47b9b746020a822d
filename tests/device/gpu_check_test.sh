#!/usr/bin/env bash
# tools/gpu-check on machines that lack things, played by programs of the same names in front of PATH.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clone=$(mktemp -d)  # the script works in the project that it is a part of
trap 'rm -rf "$clone"' EXIT
tools=$clone/pretended
mkdir -p "$clone/tools" "$tools"
cp "$root/tools/gpu-check" "$clone/tools"

fail() { echo "FAILED: $*" >&2; exit 1; }
pretend() { printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1" && chmod +x "$tools/$1"; }
# expect STATUS TEXT ARGUMENTS...
expect() {
  local wanted=$1 text=$2 printed code=0
  shift 2
  printed=$(PATH=$tools:$PATH "$clone/tools/gpu-check" "$@" 2>&1) || code=$?
  [[ $code == "$wanted" ]] || fail "status $code instead of $wanted; $printed"
  [[ $printed == *"$text"* ]] || fail "not a word of \`$text\` in: $printed"
}

pretend nvidia-smi 'exit 9'
expect 3 'there is no GPU'
expect 2 'unknown argument `--ranks`' --ranks
expect 2 '--out needs a file' --out

pretend nvidia-smi 'echo "A card, 1.2, 3 MiB"'
pretend cmake 'echo "  Could not find a package configuration file provided by \"fmt\" with any of"; exit 1'
expect 3 'A card, 1.2, 3 MiB'
expect 3 'Skipped: Could not find a package configuration file provided by "fmt"'
expect 3 '## Machine' --out /dev/stdout

# CMake works, the kernels' program finds something wrong, and pdsim is not there.
pretend cmake 'case "$*" in *tests/device*) exit 0;; --build*) mkdir -p "$2" && printf "#!/bin/sh\necho f32 WRONG\nexit 1\n" >"$2/device_check" &&
  chmod +x "$2/device_check";; *) exit 1;; esac'
expect 1 'f32 WRONG'
expect 1 'Failed with status 1'
