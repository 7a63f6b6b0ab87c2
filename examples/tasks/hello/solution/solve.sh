#!/bin/sh
set -eu
printf 'Hello from inside the sandbox.\n' > /work/hello.txt
