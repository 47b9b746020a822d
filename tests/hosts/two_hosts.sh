#!/bin/sh
# Two hosts on this machine: network namespaces with a cable between them, with delay and loss where the kernel has netem. pdsim's
# ranks of gloo and of mpirun meet across it.
#
#   usage    two_hosts.sh gloo|mpi PDSIM
#   status   0 all held, 1 something did not, 77 skipped: this machine forbids or lacks something, in one line
set -u
kind=$1
pdsim=$2
here=pdsim-$$-a
there=pdsim-$$-b
net=10.$((64 + $$ % 64)).$(($$ / 64 % 250))
work=$(mktemp -d)

skip() {
  echo "skipped: $1"
  exit 77
}
fail() {
  echo "FAILED: $1"
  cat "$work"/* 2>/dev/null
  exit 1
}
clean() {
  ip netns del "$here" 2>/dev/null
  ip netns del "$there" 2>/dev/null
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

command -v ip >/dev/null || skip "there is no ip command (install iproute2)"
"$pdsim" launch -n 1 --on "$kind" -- true 2>"$work/why" || skip "$(cat "$work/why")"
ip netns add "$here" 2>"$work/why" || skip "network namespaces are forbidden here: $(cat "$work/why")"
ip netns add "$there" || fail "the second namespace"
ip -n "$here" link add cable type veth peer name cable netns "$there" 2>"$work/why" ||
  skip "no cable between namespaces here: $(cat "$work/why")"
end=1
for host in "$here" "$there"; do
  ip -n "$host" link set lo up && ip -n "$host" addr add "$net.$end/24" dev cable && ip -n "$host" link set cable up ||
    fail "the network of $host"
  tc -n "$host" qdisc add dev cable root netem delay 2ms loss 0.5% 2>/dev/null || echo "without netem: no delay, no loss"
  end=2
done

what="validate --on $kind --max-bytes 64B --collective all_reduce --dtype f32 --op sum --patience 20s"

# As torchrun would start them on two machines: two ranks each.
gloo() {
  for rank in 0 1 2 3; do
    host=$here
    [ $rank -ge 2 ] && host=$there
    ip netns exec "$host" env RANK=$rank WORLD_SIZE=4 MASTER_ADDR="$net.1" MASTER_PORT=29500 \
      "$pdsim" $what >"$work/out$rank" 2>"$work/err$rank" &
    eval "pid$rank=\$!"
  done
  for rank in 0 1 2 3; do
    eval "wait \$pid$rank" || fail "rank $rank ended with status $?"
  done
  grep -q ' 0 wrong elements, 0 skipped, 0 did not finish: ok' "$work/out0" || fail "rank 0 does not report that all is well"
  for rank in 1 2 3; do
    [ ! -s "$work/out$rank" ] && [ ! -s "$work/err$rank" ] || fail "rank $rank is not quiet"
  done
  echo "gloo: four ranks on two hosts: $(tail -1 "$work/out0")"
}

# mpirun over a host file; instead of ssh, a command that enters the other namespace, with a host name of its own.
mpi() {
  command -v unshare >/dev/null || skip "there is no unshare command (install util-linux)"
  printf '#!/bin/sh\nhost=$1\nshift\nexec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"\n' >"$work/enter"
  chmod +x "$work/enter"
  printf '%s slots=2\n%s slots=2\n' "$here" "$there" >"$work/hosts"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$work"
  ip netns exec "$here" unshare -u sh -c "hostname $here; exec mpirun --hostfile $work/hosts -n 4 --map-by node \
    --mca plm_rsh_agent $work/enter --mca btl tcp,self --mca btl_tcp_if_include cable --mca oob_tcp_if_include cable \
    -x MASTER_ADDR=$net.1 -x MASTER_PORT=29500 $pdsim $what" >"$work/out" 2>"$work/err" || fail "mpirun ended with status $?"
  grep -q ' 0 wrong elements, 0 skipped, 0 did not finish: ok' "$work/out" || fail "rank 0 does not report that all is well"
  echo "mpi: four ranks on two hosts: $(tail -1 "$work/out")"
}

"$kind"
