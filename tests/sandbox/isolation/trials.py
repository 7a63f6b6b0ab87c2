"""Ordinary lives and deaths of a harness, as trials for one sandbox run."""

from fakes.runsc_box import Trial

EXIT_CODES = (0, 1, 2, 77, 125, 126, 127, 128, 137, 143, 255)
SIGNALS = (1, 2, 6, 9, 11, 13, 15, 34)
ORPHANS = """
perl -e '
    pipe(HELD, ENDS);
    if (!fork) {
        for (1..200) { if (!fork) { close HELD; select undef, undef, undef, 0.3; exit } }
        exit;
    }
    close ENDS;
    sysread HELD, $byte, 1;  # ends with the last of them
    wait;
'
for try in $(seq 100); do
    left=$(ls -d /proc/[0-9]* | wc -l)
    [ "$left" -le 4 ] && break
    sleep 0.1
done
echo "$left"
exit 5
"""

TRIALS = (
    *(Trial(f"exit {code}", f"exit {code}") for code in EXIT_CODES),
    *(Trial(f"signal {number}", f"kill -{number} $$; sleep 20") for number in SIGNALS),
    Trial("missing program", "", argv=("/no/such/program",)),
    Trial("not executable", "", argv=("/etc/passwd",)),
    Trial("found on the path", "", argv=("printenv", "HOME")),
    Trial("descriptors", "ls /proc/self/fd; readlink /proc/self/fd/[0-2] | cut -d: -f1"),
    Trial("identity", "id -u; id -g; id -G; pwd; umask; ps -o sid= -p $$", uid=0),
    Trial("identity 1000", "id -u; id -g; id -G; grep CapEff /proc/self/status", uid=1000),
    Trial("big output", "head -c 5000000 /dev/zero; exit 4"),
    Trial("big error", "head -c 5000000 /dev/zero >&2; echo done"),
    Trial("big input", "wc -c", stdin_bytes=1_000_000),
    Trial("input not read", "exec 0<&-; echo ok", stdin_bytes=1_000_000),
    Trial("big environment", 'echo "${#BIG}"', env_bytes=100_000),
    Trial("orphans", ORPHANS),
    Trial("leftovers", "setsid sleep 300 & (setsid nohup sleep 301 >/dev/null 2>&1 &);"
          " sleep 302 & echo started; exit 6"),
    Trial("term", "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done",
          do=("line ready", "terminate")),
    Trial("term without a trap", "echo ready; exec sleep 300", do=("line ready", "terminate")),
    Trial("term then kill", "trap 'echo no' TERM; setsid sleep 300 & echo ready;"
          " while :; do sleep 0.05; done", do=("line ready", "terminate", "line no", "kill")),
    Trial("shim stopped from outside", "echo ready; read -r _; sleep 0.3; exit 8",
          do=("line ready", "stop_shim")),
    Trial("abandoned", "touch /abandoned-ran", abandon=True),
    Trial("after abandoned", "ls /abandoned-ran"),
    Trial("hidden", "ls -A /run/stanchion /run/stanchion-spool; touch /run/stanchion/x"),
    Trial("other hidden set", "ls -A /run/stanchion /srv; cat /run/stanchion-spool/spool",
          hidden=("/run/stanchion", "/srv")),
    Trial("hidden folder missing", "true", hidden=("/no/such/folder",)),
    Trial("ordinary root work", "set -e; useradd -m bob; su bob -c 'id -un'; chroot / true;"
          " mknod /n c 1 3; mkfifo /f; mkdir -p /opt/tool && mv /opt/tool /opt/tool2;"
          " git init -q /g; chown 1000 /g; echo fine"),
    *(Trial(f"again {number}", "true") for number in range(10)),
)  # fmt: skip
