#!/usr/bin/env bash
# How exactly the engine measures a device whose every latency is known: a simulated drive, attached by FUSE and slowed
# until the way to it keeps up. The drive notes when each request came and when it was done on its own clock; the engine's
# mean and 99 % are to be those within 2 % and what the way costs, and the drive is to have 0.98 of the queue depth.
#
# Needs root, /dev/fuse and loop devices, and a machine with nothing else to do: what its scheduler is late by is in every
# figure. Whether the figures meet the bars decides the exit code.
set -euo pipefail

case ${1:-} in
-h | --help)
    cat <<'HELP'
Usage: benches/engine-exactness.sh [DRIVE [SPEED [SECONDS]]]

  DRIVE    a flash drive (default x25-m?capacity.user=1GiB), which is written full first
  SPEED    its seconds in each of the machine's (default 0.005): slow enough that the way keeps up
  SECONDS  length of the run at each depth (default 20)
HELP
    exit
    ;;
esac
cd "$(dirname "$0")/.."
echo "$(nproc) processors, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
exec cargo run --quiet --release --package assay-attach --example engine_exactness -- \
    "${1:-x25-m?capacity.user=1GiB}" "${2:-0.005}" "${3:-20}"
