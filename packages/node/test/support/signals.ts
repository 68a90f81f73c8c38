import type { ChildProcess } from "node:child_process"

/** Sends a signal to a running process. `ChildProcess.kill` of Deno also takes the process for ended. */
export const signal = ({ exitCode, pid, signalCode }: ChildProcess, name: NodeJS.Signals): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(pid, name)
}
