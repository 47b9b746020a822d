#!/bin/sh
# The tests of `pdsim run` on a newer PyTorch than this machine's, and the scripts that only a newer one can run.
#
#   usage    PDSIM_NEWER_TORCH=FOLDER newer.sh TEST_GUESTS [ARGUMENT ...]      tools/newer-torch makes such a FOLDER
#   status   0 all held, 1 something did not, 77 skipped, in one line that says why
set -u
skip() {
  echo "skipped: $1"
  exit 77
}
[ -n "${PDSIM_NEWER_TORCH-}" ] || skip "PDSIM_NEWER_TORCH names no folder with a newer PyTorch; tools/newer-torch makes one"
python=$PDSIM_NEWER_TORCH/python3
version=$("$python" -c 'import torch; print(torch.__version__)' 2>&1) ||
  skip "$python cannot import torch: $(echo "$version" | tail -n 1)"
echo "PyTorch $version"
export PDSIM_GUEST_PYTHON="$python"
export USE_LIBUV=0 # Debian's build has none; for --on real
exec "$@"
