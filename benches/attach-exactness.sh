#!/usr/bin/env bash
# How exactly an attached drive answers: the model in virtual time beside the same model attached as a block device, or
# behind an NBD socket, by the same workloads. Whether the figures meet the bars decides the exit code.
#
# Needs root, unless by NBD, and a machine with nothing else to do: what its scheduler is late by is in every figure.
set -euo pipefail

usage() {
    cat <<'HELP'
Usage: benches/attach-exactness.sh [--rounds N] [--seconds S] [--drive DRIVE] [--nbd] [ATTACH-OPTION]...

  --rounds N     runs on the attached drive, of which the medians count (default 3)
  --seconds S    length of a run (default 3)
  --drive DRIVE  the drive (default x25-m?capacity.user=4GiB), which is written full and worn first
  --nbd          behind an NBD socket, by fio's nbd engine; otherwise as a block device, by `assay run`

Other options go to `assay attach`: --busy, for one. Environment: ASSAY (the program).
HELP
}

root=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$root/target/release/assay}
drive='x25-m?capacity.user=4GiB'
rounds=3
seconds=3
nbd=
options=()
while (($#)); do
    case $1 in
    --rounds) rounds=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --drive) drive=$2 && shift 2 ;;
    --nbd) nbd=1 && shift ;;
    -h | --help) usage && exit 0 ;;
    --*) options+=("$1") && shift ;;
    *) usage >&2 && exit 2 ;;
    esac
done
for program in "$assay" jq ${nbd:+fio}; do
    command -v "$program" >/dev/null || {
        echo "$program is not there: build with 'cargo build --release -p assay'; apt-get install jq fio" >&2
        exit 2
    }
done

scratch=$(mktemp -d)
device=
finish() {
    [[ -z $device ]] || "$assay" detach "$device"
    rm -rf "$scratch"
}
trap finish EXIT

# IOPS, median and mean in µs.
run() { # TARGET DEPTH MORE...
    "$assay" --store "$scratch/store" run "$1" --rw=randread --bs=4k --iodepth="$2" --direct=1 \
        --runtime="${seconds}s" --time_based --format=json "${@:3}" |
        jq -r '.read | [.iops, .latency_ns.p50 / 1000, .latency_ns.mean / 1000] | @tsv'
}

# The same on an attached drive.
run_attached() { # DEPTH
    if [[ -z $nbd ]]; then
        run "$device" "$1"
        return
    fi
    fio --name=read --ioengine=nbd --uri="nbd+unix:///?socket=$device" --rw=randread --bs=4k --iodepth="$1" \
        --runtime="$seconds" --time_based --lat_percentiles=1 --output-format=json |
        sed -n '/^{/,$p' | jq -r '.jobs[0].read | [.iops, .lat_ns.percentile["50.000000"] / 1000, .lat_ns.mean / 1000] | @tsv'
}

median() { # COLUMN FILE
    cut -f"$1" "$2" | sort -g | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

missed=0
# Prints by how much two figures differ, and whether that is within the bar.
judge() { # WORDS MODEL ATTACHED PERCENT
    awk -v words="$1" -v model="$2" -v attached="$3" -v bar="$4" 'BEGIN {
        off = 100 * (attached / model - 1)
        good = off <= bar && off >= -bar
        printf "  %-28s %10.4g : %-10.4g %+6.1f %%  (within %d %%)  %s\n", words, model, attached, off, bar, good ? "met" : "MISSED"
        exit !good
    }' || missed=1
}

[[ -z $nbd ]] || options+=("--nbd=$scratch/socket")
device=$("$assay" attach "$drive" --worn --daemon "${options[@]}")
echo "model : attached, $drive ${options[*]}, medians of $rounds runs of $seconds s each, $(nproc) processors, $(uname -r)," \
    "load $(cut -d' ' -f1 /proc/loadavg)"
for depth in 1 32; do
    for ((round = 0; round < rounds; round++)); do run_attached "$depth"; done >"$scratch/attached"
    run "sim:$drive" "$depth" >"$scratch/model"
    figures=()
    for column in 1 2 3; do figures+=("$(cut -f$column "$scratch/model")" "$(median $column "$scratch/attached")"); done
    if ((depth == 1)); then
        judge "depth 1, median in µs" "${figures[@]:2:2}" 5
        judge "depth 1, mean in µs" "${figures[@]:4:2}" 10
    else
        judge "depth 32, IOPS" "${figures[@]:0:2}" 5
    fi
    # Root's, or the user's own.
    entry=$(grep -ls "\"$device\"" /run/assay/*.json "${XDG_RUNTIME_DIR:-/tmp/assay-$UID}"/{,assay/}*.json | head -n 1 || true)
    jq -r '.live | "  late so far: median \(.late_median / 1000) µs, 99 % \(.late_99 / 1000) µs"' "$entry"
done
exit $missed
