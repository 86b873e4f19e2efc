#!/usr/bin/env bash
# How long storing and merging take for 10 k, 100 k and 1 M measurements, and how large the stores are. The largest takes 6 GB in each
# of the two folders.
#
# A disk takes a flush for each cell that is stored; in /dev/shm it costs nothing.
set -euo pipefail

case ${1:-} in
-h | --help)
    echo "Usage: benches/store-scale.sh [SOURCES OUTPUTS [MEASUREMENTS...]]"
    exit
    ;;
esac
cd "$(dirname "$0")/.."
sources=${1:-$(mktemp -d -p target)}
outputs=${2:-$sources}
shift 2 || shift $#
(($#)) || set -- 10000 100000 1000000
echo "$(nproc) processors, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
exec cargo run --quiet --release --package assay-store --example scale -- "$sources" "$outputs" "$@"
