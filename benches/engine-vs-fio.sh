#!/usr/bin/env bash
# assay's engine beside fio on the same file, in alternating runs; prints the medians, and the median of the rounds' ratios.
#
# Both count a request's latency from before it is submitted (fio's lat, not its clat).
#
# The file is made on the disk that holds this repository, or where DIRECTORY says: not on tmpfs, where the kernel
# hands every request to a thread of its own. Every figure comes from the JSON that both programs print in fio's
# schema, so that both are measured by the same words: processor time is usr_cpu and sys_cpu. Whether the figures meet
# the bars decides the exit code.
set -euo pipefail

usage() {
    cat <<'HELP'
Usage: benches/engine-vs-fio.sh [--rounds N] [--seconds S] [CASE]...

  --rounds N   runs of each program, alternating (default 10)
  --seconds S  length of a run (default 5)

Cases, all by default; each a 4 KiB random read by one worker:
  default  queue depth 32, the file in the page cache; fio's defaults
  best     the same; fio's fastest settings
  direct   queue depth 32, O_DIRECT: the disk's speed, and processor time a request
  single   queue depth 1, O_DIRECT: the median latency

Environment: ASSAY, FIO (the programs), DIRECTORY (for the file), SIZE (of the file, default 256m).
HELP
}

root=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$root/target/release/assay}
fio=${FIO:-fio}
directory=${DIRECTORY:-$root/target}
size=${SIZE:-256m}
rounds=10
seconds=5
cases=()
while (($#)); do
    case $1 in
    --rounds) rounds=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    default | best | direct | single) cases+=("$1") && shift ;;
    *) usage >&2 && exit 2 ;;
    esac
done
((${#cases[@]})) || cases=(default best direct single)

for program in "$assay" "$fio" jq; do
    command -v "$program" >/dev/null || {
        echo "$program is not there: build with 'cargo build --release -p assay'; apt-get install fio jq" >&2
        exit 2
    }
done

scratch=$(mktemp -d "$directory/engine-vs-fio.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
file=$scratch/file
filesystem=$(findmnt -no FSTYPE -T "$scratch")
[[ $filesystem != tmpfs ]] || {
    echo "$scratch is on tmpfs; set DIRECTORY to a directory on a disk" >&2
    exit 2
}
"$fio" --name=layout --filename="$file" --rw=write --bs=1m --size="$size" --end_fsync=1 >/dev/null

fast=(--registerfiles=1 --fixedbufs=1 --iodepth_batch_submit=16 --iodepth_batch_complete_max=16 --gtod_reduce=1
    --norandommap=1 --random_generator=tausworthe64)

# What of a document is compared: requests a second, µs of processor time a request, median latency in µs.
figures='.jobs[0] | ((.usr_cpu + .sys_cpu) / 100) as $cores | .read |
    [.iops, $cores * 1e6 / .iops, ((.lat_ns.percentile // .clat_ns.percentile // {})["50.000000"] // 0) / 1000] | @tsv'

run() { # PROGRAM CASE
    # Both draw places that may come again, so that both read the same.
    local job=(--name=job --ioengine=io_uring --filename="$file" --rw=randread --bs=4k --runtime="${seconds}s" --time_based=1 --norandommap=1)
    case $2 in
    default | best) job+=(--iodepth=32 --direct=0 --invalidate=0) ;;
    direct) job+=(--iodepth=32 --direct=1) ;;
    single) job+=(--iodepth=1 --direct=1) ;;
    esac
    if [[ $1 == assay ]]; then
        "$assay" --store "$scratch/store" run "${job[@]}" --format fio
    else
        [[ $2 == best ]] && job+=("${fast[@]}")
        "$fio" --lat_percentiles=1 --clat_percentiles=0 "${job[@]}" --output-format=json
    fi 2>"$scratch/said" | jq -r "$figures" || { cat "$scratch/said" >&2 && exit 1; }
}

median() { # COLUMN FILE
    cut -f"$1" "$2" | sort -g | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

# The median over the rounds of ours by theirs, and its 95 % interval: the ranks between which the median of that many
# draws lies so often.
ratio() { # COLUMN
    paste <(cut -f"$1" "$scratch/ours") <(cut -f"$1" "$scratch/theirs") | awk '{ print ($2 > 0 ? $1 / $2 : 0) }' |
        sort -g | awk '
            { x[NR] = $1 }
            END {
                # One tail of the binomial distribution by halves.
                for (term = 0.5 ^ NR; (tail += term) <= 0.025; term *= (NR - rank + 1) / rank) rank++
                printf "%.3f %.3f %.3f\n", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2, x[rank ? rank : 1], x[NR + 1 - (rank ? rank : 1)]
            }'
}

missed=0
# Prints two medians, the median of the rounds' ratios with its interval, and whether it is on the right side of its bar.
judge() { # WORDS COLUMN ">="|"<=" BAR
    awk -v words="$1" -v ours="$(median "$2" "$scratch/ours")" -v theirs="$(median "$2" "$scratch/theirs")" \
        -v ratio="$(ratio "$2")" -v side="$3" -v bar="$4" 'BEGIN {
        split(ratio, r, " ")
        good = side == ">=" ? r[1] >= bar : r[1] <= bar
        printf "  %-22s %10.4g : %-10.4g %s (%s to %s)  %s %s  %s\n", words, ours, theirs, r[1], r[2], r[3], side, bar, good ? "met" : "MISSED"
        exit !good
    }' || missed=1
}

# Where the disk is the limit, both must find the same.
agree() { # OURS THEIRS
    awk -v ours="$1" -v theirs="$2" 'BEGIN { printf "  IOPS agree within %.1f %%\n", 100 * (ours > theirs ? ours / theirs - 1 : theirs / ours - 1) }'
}

compare() { # CASE
    local ours=$scratch/ours theirs=$scratch/theirs
    : >"$ours" && : >"$theirs"
    [[ $1 == default || $1 == best ]] && cat "$file" >/dev/null
    for ((round = 0; round < rounds; round++)); do
        # Who comes second finds another machine: take turns.
        if ((round % 2)); then
            run fio "$1" >>"$theirs" && run assay "$1" >>"$ours"
        else
            run assay "$1" >>"$ours" && run fio "$1" >>"$theirs"
        fi
    done
    echo "$1:"
    case $1 in
    default) judge "IOPS" 1 ">=" 1.6 ;;
    best) judge "IOPS" 1 ">=" 1.1 ;;
    direct)
        judge "IOPS" 1 ">=" 1.0
        judge "CPU µs a request" 2 "<=" 1.0
        ;;
    single) judge "median latency in µs" 3 "<=" 1.02 ;;
    esac
    [[ $1 == direct || $1 == single ]] && agree "$(median 1 "$ours")" "$(median 1 "$theirs")"
    paste "$ours" "$theirs" | awk '{ printf "  round %d: IOPS %.0f : %.0f, CPU µs %.3f : %.3f\n", NR, $1, $4, $2, $5 }'
}

echo "assay : fio, medians of $rounds runs of $seconds s each, on $filesystem, $(uname -r), $("$fio" --version)"
for each in "${cases[@]}"; do compare "$each"; done
exit $missed
