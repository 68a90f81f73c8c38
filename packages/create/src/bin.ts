#!/usr/bin/env node
// An older Node cannot load the modules of the command, so this module imports none of them before the check.
const [major, minor] = process.versions.node.split(".").map(Number)

if (major > 22 || (major === 22 && minor >= 19)) {
  void import("./main.ts")
} else {
  process.stderr.write(
    `create-colloquy: Node 22.19 or newer is needed, and this is Node ${process.versions.node}. Nothing was created.\n`
  )
  process.exitCode = 2
}
