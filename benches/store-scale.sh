#!/usr/bin/env bash
# How long storing and merging take for 10 k, 100 k and 1 M measurements, and how large the stores are. Writes about 6 GB.
#
# The times depend on the disk, which takes a flush for each cell that is stored.
set -euo pipefail

case ${1:-} in
-h | --help)
    echo "Usage: benches/store-scale.sh [FOLDER [MEASUREMENTS...]]"
    exit
    ;;
esac
cd "$(dirname "$0")/.."
folder=${1:-$(mktemp -d -p target)}
shift || true
(($#)) || set -- 10000 100000 1000000
echo "$(nproc) processors, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
exec cargo run --quiet --release --package assay-store --example scale -- "$folder" "$@"
