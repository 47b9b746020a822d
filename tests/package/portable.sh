#!/usr/bin/env bash
# tests/package/portable.sh SOURCE WORK: packs the portable build, and runs its one file where nothing else is: in an empty root, and in the
# roots of an older and a newer distribution.
#
#   the build   SOURCE/build/portable; it is made where it is missing, which takes minutes
#   the roots   WORK/empty; WORK/roots/SUITE, made once by debootstrap, as root and where packages can be had; else skipped with a line
#
# Exit status: 0 it runs everywhere that could be tried, 77 no root can be entered here, 1 it does not run somewhere.
set -euo pipefail
source=$1 work=$2
suites=(bullseye trixie)  # glibc 2.31 of 2020, and 2.41 of 2025
exec </dev/null

fail() { echo "portable: $*" >&2; exit 1; }

# Runs a command with the folder as its root, as this user's root.
enter() { env -i HOME=/root PATH=/usr/bin:/bin unshare "${as_root[@]}" --root="$1" --wd=/ "${@:2}"; }
as_root=()
((EUID == 0)) || as_root=(--user --map-root-user)

pack() {
  if [ ! -x "$source/build/portable/tools/pdsim" ]; then
    (cd "$source" && cmake --preset portable >/dev/null && nice cmake --build --preset portable)
  fi
  mkdir -p "$work"
  rm -rf "$work/packed"
  cpack --config "$source/build/portable/CPackConfig.cmake" -B "$work/packed" >"$work/cpack.log" || { cat "$work/cpack.log"; fail "cpack failed"; }
  tar -xzf "$work"/packed/*.tar.gz -C "$work/packed"
  file=$(echo "$work"/packed/*/pdsim)
  [ -x "$file" ] || fail "the archive has no pdsim: $(tar -tzf "$work"/packed/*.tar.gz)"
  if readelf -lW "$file" | grep INTERP >/dev/null; then fail "the file needs a dynamic linker"; fi
  if readelf -dW "$file" 2>/dev/null | grep NEEDED >/dev/null; then fail "the file needs shared libraries"; fi
  echo "packed: $(basename "$work"/packed/*.tar.gz), $(du -h "$file" | cut -f1) in one file"
}

# expect STATUS PATTERN COMMAND...: in $root; the pattern is of standard output and standard error together.
expect() {
  local status=0
  enter "$root" /pdsim "${@:3}" >"$work/output" 2>&1 || status=$?
  if [ "$status" != "$1" ] || ! grep -qE -- "$2" "$work/output"; then
    tail -20 "$work/output" >&2
    fail "in $root: pdsim ${*:3} ended with $status, and $1 was expected, with \`$2\`"
  fi
}

try_everything() {
  root=$1
  install -m 755 "$file" "$root/pdsim"
  rm -rf "$root/root/.cache" "$root/out" "$root/gallery" "$root/pdsim-labs"
  expect 0 '^pdsim [0-9]' --version
  expect 0 'PASS' scenario unused_params --out /out
  [ -s "$root/out/index.html" ] || fail "in $root: no page was written"
  expect 0 'unused-parameters' diagnose /out/unused_params
  expect 0 'all_reduce' explain 'what is a bucket?'
  plan=$(echo "$root"/root/.cache/pdsim/*/plans/ring.plan)
  expect 0 '16 +30' prove "${plan#"$root"}"
  expect 0 '^unused_params' list
  expect 0 'silent one' lab
  expect 0 'off-by-one' lab 5
  expect 1 'replay' lab 5 --check
  expect 0 '' gallery unused_params rank_hangs --out /gallery
  [ -s "$root/gallery/index.html" ] || fail "in $root: no gallery was written"
  expect 0 'Out of bounds values : 0 OK' bench -b 8 -e 1M -f 8 -g 8
  expect 0 'no link is slow' validate --pairs --ranks 64
  expect 0 'not available' doctor
  for world in gloo mpi nccl; do
    expect 3 "^pdsim: the world $world is not available here: .*$" validate --on "$world" --ranks 2
    [ "$(wc -l <"$work/output")" = 1 ] || fail "in $root: more than one line about $world"
  done
  echo "runs in $(basename "$root")$(enter_name "$root")"
}

enter_name() { [ ! -r "$1/etc/os-release" ] || sed -n 's/^PRETTY_NAME="\(.*\)"/ (\1)/p' "$1/etc/os-release"; }

# The root of a suite; empty where it cannot be made, with the reason.
root_of() {
  local root=$work/roots/$1
  if [ ! -x "$root/bin/sh" ]; then
    if ((EUID != 0)) || ! command -v debootstrap >/dev/null; then echo "skipped $1: debootstrap as root makes it" >&2; return; fi
    rm -rf "$root"
    mkdir -p "$work/roots"
    debootstrap --variant=minbase "$1" "$root" http://deb.debian.org/debian >"$work/debootstrap-$1.log" 2>&1 ||
      { rm -rf "$root"; echo "skipped $1: $(tail -1 "$work/debootstrap-$1.log")" >&2; return; }
  fi
  echo "$root"
}

mkdir -p "$work/empty"
entered=$(unshare "${as_root[@]}" --root="$work" --wd=/ /nothing 2>&1 || true)
[[ $entered == *"No such file"* ]] || { echo "no root can be entered here: $entered"; exit 77; }
pack
rm -rf "$work/empty"
mkdir -p "$work/empty"
try_everything "$work/empty"
for suite in "${suites[@]}"; do
  root=$(root_of "$suite")
  [ -z "$root" ] || try_everything "$root"
done
