#!/bin/sh
set -eu
python3 - > /work/count.txt <<'PYTHON'
free, after_three = [1], [0]
for step in range(1, 41):
    every = [a + b for a, b in zip(free, after_three)]
    free.append(every[step - 1] + (every[step - 2] if step >= 2 else 0))
    after_three.append(free[step - 3] if step >= 3 else 0)
print(free[40] + after_three[40])
PYTHON
