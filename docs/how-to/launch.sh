#!/usr/bin/env bash
# launch.sh TASK OUT [OPTION of `stanchion run`...]: one attempt, launched without `stanchion run`.
# REHEARSAL={"port":N,"key":"K"} where the model is rehearsal/...; docs/how-to/launch-from-a-script.md
set -euo pipefail
task=$1 out=$2 here=$(dirname "$0") run=$(od -An -N6 -tx1 /dev/urandom | tr -d ' ')
shift 2
mkdir -p "$out"
broker() { curl -sS --fail-with-body --unix-socket "$STANCHION_STATE/broker/admin.sock" "$@"; }
path() { stanchion "$@" --json | jq -er .path; }

# 1. Decide: the complete terms; starts nothing but the broker.
stanchion run "$task" "$@" --print-spec > "$out/spec.json"
harness=$(jq -r '"\(.harness.name)@\(.harness.version)"' "$out/spec.json")
rootfs=$(path images base) bundle=$(path images bundle) package=$(path harness fetch "$harness")

# 2. Open: the broker freezes the terms, leaves them in a fresh directory and listens there.
jq '{protocol, run: $run, attempt: 1, spec: ., rehearsal: $rehearsal}' "$out/spec.json" \
  --arg run "$run" --argjson rehearsal "${REHEARSAL:-null}" |
  broker --json @- http://broker/v1/runs > "$out/opened.json"
attempt=$(jq -r .directory "$out/opened.json") url=http://broker/v1/runs/$run
trap 'broker -X POST "$url/cancel" > "$out/cancelled.json"; rm -rf "$attempt" "$box"' ERR

# 3. Fill: the task's files beside the sockets, the sandbox's configuration from the template.
cp -r "$task/instruction.md" "$task/tests" "$attempt"
[ ! -d "$task/environment/workdir" ] || cp -r "$task/environment/workdir" "$attempt"
box=$(mktemp -d) && mkdir "$box/overlay"
sed -e "s|@ATTEMPT@|$attempt|; s|@ROOTFS@|$rootfs|; s|@BUNDLE@|$bundle|" \
  -e "s|@PACKAGE@|$package|; s|@HARNESS@|${harness/@//}|" \
  "$here/config.json.template" > "$box/config.json"

# 4. Run: a token for one enrolment within a minute, then the sandbox to its end.
broker -X POST "$url/enrol" | jq -j .token > "$attempt/enrol.token"
runsc --root="$box/state" --network=none --host-uds=open --ignore-cgroups \
  --overlay2=root:dir="$box/overlay" run --bundle "$box" "$run" > "$out/sandbox.log" 2>&1 && code=0 || code=$?
# 5. Close: what the host saw; the broker decides, grades, signs.
jq -n '{host: {sandbox_exit: $code, oom_kills_why: "no cgroup"}}' --argjson code "$code" |
  broker --json @- "$url/host-facts" > "$out/view.json"
broker "$url/bundle" > "$out/receipts.bundle"; rm -rf "$attempt" "$box"
