#!/usr/bin/env bash
# Whether two binaries simulate the same, bit for bit: all that `assay run` prints of it as JSON, over drives, loads and seeds.
# For changes that are to make the simulator faster and nothing else; whether all agree decides the exit code.
set -euo pipefail

usage() {
    cat <<'HELP'
Usage: benches/same-results.sh OTHER-BINARY [--requests N] [DRIVE]...

  OTHER-BINARY  another assay, which gets a home and a store of its own
  --requests N  of each run (default 100000)

Environment: ASSAY (the program).
HELP
}

root=$(cd "$(dirname "$0")/.." && pwd)
assay=${ASSAY:-$root/target/release/assay}
other=
requests=100000
drives=()
while (($#)); do
    case $1 in
    --requests) requests=$2 && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    --*) usage >&2 && exit 2 ;;
    *) if [[ -z $other ]]; then other=$1; else drives+=("$1"); fi && shift ;;
    esac
done
[[ -n $other ]] || { usage >&2 && exit 2; }
((${#drives[@]})) || drives=('x25-m?capacity.user=1GiB' 'x25-m?capacity.user=1GiB&map.cache=64KiB'
    'x25-e-32?capacity.user=1GiB' '970-pro?capacity.user=8GiB' 'vertex3-240?capacity.user=8GiB'
    'p5520-1920?capacity.user=16GiB&pages_per_block=576' 'pm9a3-960?capacity.user=16GiB&pages_per_block=576' st320lt020
    raptor-150 nearline-7200 solid-data-dram)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What is simulated: all but the time of day and what the program itself took.
run() { # BINARY OPTIONS...
    local home=$scratch/${1//\//_}
    mkdir -p "$home"
    HOME=$home XDG_DATA_HOME=$home "$1" run "${@:2}" --format=json | jq -S 'del(.assay, .timestamp_ms, .cpu)'
}

compared=0
differ=0
for drive in "${drives[@]}"; do
    for load in '--rw=randwrite --iodepth=32' '--rw=randread --iodepth=32' '--rw=randread --iodepth=1' \
        '--rw=randrw --rwmixread=70 --iodepth=8 --bs=16k' '--rw=write --bs=128k --iodepth=4 --fsync=64' \
        '--rw=randwrite --bs=512 --iodepth=4' '--rw=read --bs=64k --iodepth=2' \
        '--rw=randrw --iodepth=16 --rate_iops=5000 --rate_process=poisson'; do
        for seed in 1 7; do
            # shellcheck disable=SC2086 # each load is several options
            options=("sim:$drive" $load --number_ios="$requests" --randseed="$seed")
            run "$assay" "${options[@]}" >"$scratch/ours"
            run "$other" "${options[@]}" >"$scratch/theirs"
            compared=$((compared + 1))
            cmp -s "$scratch/ours" "$scratch/theirs" || {
                differ=$((differ + 1))
                echo "differs: assay run ${options[*]}"
                diff "$scratch/ours" "$scratch/theirs" | head -n 6 || true
            }
        done
    done
done
echo "$compared runs compared, $differ differ"
((differ == 0))
