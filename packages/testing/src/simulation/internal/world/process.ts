/** A simulated process, and the tasks that the process executes. */
export class Process {
  readonly name: string
  isAlive = true
  isFrozen = false
  /** By how many milliseconds the wall clock of the process is ahead. */
  skew: number
  /** Until when the process cannot reach the store. */
  cutUntil = 0
  /** The tasks that are executed when the process continues. */
  parked: Array<Task> = []

  constructor(name: string, skew = 0) {
    this.name = name
    this.skew = skew
  }
}

export interface Task {
  readonly process: Process
  /** With the order `priority`, ready tasks with the highest priority are executed first. */
  readonly priority: number
  readonly run: () => void
}
