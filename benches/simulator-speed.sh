#!/usr/bin/env bash
# Simulated requests a second of processor time, and what each mechanism of a drive costs; beside another binary, if one is
# given, in alternating runs.
#
# Each figure is the user time of a long run less that of a short one, so that neither starting nor filling the drive counts:
# of writes at random, the short one brings the drive into its steady state. Of each length the least time of all rounds counts:
# what else the machine does makes runs slower and never faster, and by more than what is told apart here, so that a single
# difference, or the median of some, may even be negative. Ratios within one run count.
set -euo pipefail

usage() {
    cat <<'HELP'
Usage: benches/simulator-speed.sh [--rounds N] [--against BINARY] [--prices DRIVE] [CASE]...

  --rounds N        runs of each, alternating (default 3)
  --against BINARY  another assay, with a home and a store of its own; the ratio is ours over its
  --prices DRIVE    in place of the cases: what each mechanism of this drive costs, by leaving it out (p5520-1920, for one)

Cases, all by default; each of 4 KiB:
  flash   random writes in the steady state of the 80 GB x25-m, its map in flash, queue depth 32
  memory  the same with its map in memory
  read    random reads of the x25-m filled, queue depth 32
  server  random reads of the p5520-1920 filled, with all its mechanisms and its host, queue depth 32
  worn    random writes in the steady state of 16 GB of the same
  disk    random reads of the laptop disk st320lt020, queue depth 32
  cached  random writes on it, queue depth 32

Environment: ASSAY (the program).
HELP
}

root=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$root/target/release/assay}
against=
prices=
rounds=3
cases=()
while (($#)); do
    case $1 in
    --rounds) rounds=$2 && shift 2 ;;
    --against) against=$2 && shift 2 ;;
    --prices) prices=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    flash | memory | read | server | worn | disk | cached) cases+=("$1") && shift ;;
    *) usage >&2 && exit 2 ;;
    esac
done
((${#cases[@]})) || cases=(flash memory read server worn disk cached)
for program in "$assay" $against; do
    command -v "$program" >/dev/null || {
        echo "$program is not there: build with 'cargo build --release -p assay'" >&2
        exit 2
    }
done

# Of a drive for servers, as much as random writes soon bring into the steady state.
small='?capacity.user=16GiB&pages_per_block=576'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Seconds of user time.
run() { # BINARY DRIVE PATTERN REQUESTS
    local home=$scratch/${1//\//_} TIMEFORMAT=%U
    mkdir -p "$home"
    { time HOME=$home XDG_DATA_HOME=$home "$1" run "sim:$2" --rw="$3" --bs=4k --iodepth=32 --number_ios="$4" --time_based \
        --format=json >"$scratch/out" 2>"$scratch/said"; } 2>"$scratch/time" || { cat "$scratch/said" >&2 && exit 1; }
    tail -n 1 "$scratch/time"
}

# Nanoseconds of processor time a request, from a file of the times of short runs and of those with COUNT requests more; a
# question mark where these did not take longer.
cost() { # FILE COUNT
    awk -v count="$2" '
        NR == 1 || $1 < short { short = $1 }
        NR == 1 || $2 < long { long = $2 }
        END { if (long > short) printf "%.2f\n", 1e9 * (long - short) / count; else print "?" }' "$1"
}

# Measures all drives by turns, without counting the first SKIP requests; a file of times for each, by number.
alternate() { # PATTERN SKIP REQUESTS, then BINARY DRIVE for each
    local pattern=$1 skip=$2 count=$3 round each short long
    shift 3
    local all=("$@")
    rm -f "$scratch"/times.*
    for ((round = 0; round < rounds; round++)); do
        for ((each = 0; each < ${#all[@]}; each += 2)); do
            short=$(run "${all[@]:each:2}" "$pattern" "$skip")
            long=$(run "${all[@]:each:2}" "$pattern" $((skip + count)))
            echo "$short $long" >>"$scratch/times.$((each / 2))"
        done
    done
}

measure() { # CASE
    local drive pattern skip=1 count=20000000
    case $1 in
    flash) drive=x25-m pattern=randwrite skip=26000000 ;;
    memory) drive='x25-m?map.cache=128MiB' pattern=randwrite skip=26000000 ;;
    read) drive=x25-m pattern=randread ;;
    server) drive=p5520-1920 pattern=randread count=8000000 ;;
    worn) drive="p5520-1920$small" pattern=randwrite skip=6000000 count=6000000 ;;
    disk) drive=st320lt020 pattern=randread count=2000000 ;;
    cached) drive=st320lt020 pattern=randwrite count=2000000 ;;
    esac
    local all=("$assay" "$drive")
    [[ -z $against ]] || all+=("$against" "$drive")
    alternate "$pattern" "$skip" "$count" "${all[@]}"
    local ours theirs=
    ours=$(cost "$scratch/times.0" "$count")
    [[ -z $against ]] || theirs=$(cost "$scratch/times.1" "$count")
    awk -v name="$1" -v ours="$ours" -v theirs="$theirs" 'BEGIN {
        if (ours == "?" || theirs == "?") { printf "  %-7s not to be told on so busy a machine: more rounds may do\n", name; exit }
        printf "  %-7s %7.2f million a second", name, 1e3 / ours
        if (theirs != "") printf "  : %7.2f = %.2f", 1e3 / theirs, theirs / ours
        print ""
    }'
}

# The drive whole, and without each table that holds a mechanism.
price() { # DRIVE
    local whole=$scratch/whole.toml table tables=() all=() pattern number whole_cost
    "$assay" drives show --toml "$1" >"$whole"
    for table in variation errors suspend journal housekeeping chores gc thermal map wear; do
        grep -q "^\[$table[].]" "$whole" || continue
        awk -v table="$table" '/^\[/ { leave = ($0 ~ "^\\[+" table "[].]") } !leave' "$whole" >"$scratch/without-$table.toml"
        "$assay" drives show "$scratch/without-$table.toml" >"$scratch/out" 2>&1 && tables+=("$table")
    done
    grep -q '^jitter' "$whole" && sed '/^jitter/d' "$whole" >"$scratch/without-jitter.toml" && tables+=(jitter)
    for pattern in randread randwrite; do
        all=("$assay" "$whole$small")
        for table in "${tables[@]}"; do all+=("$assay" "$scratch/without-$table.toml$small"); done
        alternate "$pattern" 6000000 4000000 "${all[@]}"
        whole_cost=$(cost "$scratch/times.0" 4000000)
        echo "$1, 16 GB of it, $pattern: whole $whole_cost ns a request"
        for ((number = 1; number <= ${#tables[@]}; number++)); do
            awk -v name="${tables[number - 1]}" -v whole="$whole_cost" -v less="$(cost "$scratch/times.$number" 4000000)" 'BEGIN {
                if (whole == "?" || less == "?") printf "  %-12s not to be told\n", name
                else printf "  %-12s %+6.1f ns, %+5.1f %%\n", name, whole - less, 100 * (whole - less) / whole
            }'
        done
    done
}

echo "least user time of $rounds rounds, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), load $(cut -d' ' -f1 /proc/loadavg)${against:+, beside $against}"
if [[ -n $prices ]]; then
    price "$prices"
else
    for each in "${cases[@]}"; do measure "$each"; done
fi
