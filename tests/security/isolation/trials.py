"""What a hostile agent tries, as root and as an ordinary user, as trials for one sandbox run.

`SCAN` is one agent that tries everything which leaves it alive; each finding is one JSON line. The
others are agents that end, stop or flood something.
"""

from pathlib import Path

from fakes.runsc_box import Trial

SCAN = Path(__file__).with_name("hostile.py").read_text(encoding="utf-8")

STOP_STORM = """
exec >/dev/null 2>&1
setsid bash -c 'while :; do kill -STOP 1; done' &
sleep 1
exit 3
"""

TRIALS = (
    Trial("scan as root", SCAN, python=True),
    Trial("scan as user", SCAN, python=True, uid=1000),
    Trial("kill shim", "setsid sleep 300 & kill -9 1; sleep 5; echo still here"),
    Trial("term shim", "kill -TERM 1; for n in $(seq 1 64); do case $n in 9|19) ;; *)"
          " kill -$n 1 ;; esac; done 2>/dev/null; sleep 0.5; echo still here; exit 4"),
    Trial("stop shim", "kill -STOP 1; sleep 1.5; echo still here; exit 5"),
    Trial("stop shim and leave", "kill -STOP 1; exit 6"),
    Trial("stop storm", STOP_STORM),
    Trial("kill all", "sleep 300 & exec python3 -c 'import os; os.kill(-1, 9); os._exit(7)'"),
    Trial("kill group", "kill -9 0; sleep 5"),
    Trial("kill shim as user", "kill -9 1 || exit 8; sleep 5", uid=1000),
    Trial("stop shim as user", "kill -STOP 1 || exit 9; sleep 5", uid=1000),
    Trial("break devices", "rm /dev/null && mkdir /dev/null && rm -rf /etc/passwd /bin/true"),
    Trial("after all that", "echo fine"),
)  # fmt: skip
