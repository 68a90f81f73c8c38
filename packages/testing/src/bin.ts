#!/usr/bin/env node
/**
 * The command `colloquy-emulator`, which runs the emulator for bots in any language.
 *
 * @since 0.1.0
 */

// An older Node cannot load the modules of the command, so this module imports none of them before the check, and contains
// only syntax that old versions of Node can parse.
const [major, minor] = process.versions.node.split(".").map(Number)

if (major > 22 || (major === 22 && minor >= 19)) {
  void import("./emulator/internal/command/main.ts")
} else {
  process.stderr.write(
    `colloquy-emulator: Node 22.19 or newer is needed, and this is Node ${process.versions.node}. Install a newer one.\n`
  )
  process.exitCode = 2
}
