#!/usr/bin/env bash
# Runs an mpirun command on two hosts, which are network namespaces of this machine with names of their own and a cable between
# them; MPI's remote shell is `ip netns exec`. Needs root. Exit code 77: namespaces cannot be made here.
# usage: two_hosts.sh SLOTS_PER_HOST MPIRUN ARGUMENT...
set -u
slots=$1 mpirun=$2
shift 2
a=swa$$ b=swb$$
agent=$(mktemp)
cleanup() {
  for n in "$a" "$b"; do
    ip netns pids "$n" 2>/dev/null | xargs -r kill -9 2>/dev/null
    ip netns del "$n" 2>/dev/null
  done
  rm -f "$agent"
}
trap cleanup EXIT
make_hosts() {
  ip netns add "$a" && ip netns add "$b" &&
    ip -n "$a" link add eth0 type veth peer name eth0 netns "$b" &&
    ip -n "$a" addr add 10.77.0.1/24 dev eth0 && ip -n "$b" addr add 10.77.0.2/24 dev eth0 &&
    ip -n "$a" link set lo up && ip -n "$b" link set lo up &&
    ip -n "$a" link set eth0 up && ip -n "$b" link set eth0 up
}
make_hosts || { echo "network namespaces cannot be made here"; exit 77; }
cat >"$agent" <<EOF
#!/bin/bash
shift  # the host: there is only one other
exec ip netns exec $b unshare --uts bash -c 'hostname host-b; eval "\$0"' "\$*"
EOF
chmod +x "$agent"
ip netns exec "$a" unshare --uts bash -c 'hostname host-a; exec "$@"' _ \
  "$mpirun" --host "10.77.0.1:$slots,10.77.0.2:$slots" --mca plm_rsh_agent "$agent" --mca btl_tcp_if_include eth0 \
  --mca oob_tcp_if_include eth0 --mca pml ob1 --mca btl self,vader,tcp "$@" &
child=$!  # mpirun itself: nothing before it forks
trap 'kill -TERM "$child" 2>/dev/null' TERM INT
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do  # a signal has interrupted the wait
  wait "$child"
  code=$?
done
exit "$code"
