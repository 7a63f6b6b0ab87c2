"""The daemon inside the sandbox: PID 1, configures and watches one agent, says how it ended."""
