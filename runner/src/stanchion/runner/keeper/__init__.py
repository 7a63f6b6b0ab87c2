"""One small host process per attempt: owns its sandbox, limits, deadline and result files.

It outlives the command that started it; commands only watch. Started as
`python -m stanchion.runner.keeper` with its order on standard input.
"""
