/** The tasks that are ready, and which of them is executed next. */
import type { Dice } from "./dice.ts"
import type { Task } from "./process.ts"

/**
 * Which of the ready tasks is executed: any, the one that is ready for the longest time, or that of the fiber with the highest
 * priority, which changes now and then.
 */
export type Order = "random" | "fifo" | "priority"

export class Ready {
  readonly #dice: Dice
  readonly #order: Order
  readonly #tasks: Array<Task> = []
  /** The fiber that is delayed by the order `priority`. */
  #delayed = 0

  constructor(dice: Dice, order: Order) {
    this.#dice = dice
    this.#order = order
  }

  get size(): number {
    return this.#tasks.length
  }

  add(task: Task): void {
    this.#tasks.push(task)
  }

  count(matches: (task: Task) => boolean): number {
    return this.#tasks.filter(matches).length
  }

  /** The priority of a fiber. */
  nextPriority(): number {
    return this.#order === "priority" ? this.#dice.int(16) : 0
  }

  /** Takes one of the ready tasks. */
  take(): Task | undefined {
    const tasks = this.#tasks
    if (tasks.length <= 1) return tasks.pop()
    switch (this.#order) {
      case "fifo":
        return tasks.shift()
      case "random":
        return this.#takeAt(this.#dice.int(tasks.length))
      case "priority": {
        if (this.#dice.chance(0.02)) this.#delayed = this.#dice.int(16)
        // Now and then any task is executed, so that a fiber that waits for another one in a loop does not stop the world.
        if (this.#dice.chance(0.05)) return this.#takeAt(this.#dice.int(tasks.length))
        let best = 0
        for (let index = 1; index < tasks.length; index++) {
          if (this.#rank(tasks[index]) > this.#rank(tasks[best])) best = index
        }
        return this.#takeAt(best)
      }
    }
  }

  #rank({ priority }: Task): number {
    return priority === this.#delayed ? -1 : priority
  }

  #takeAt(index: number): Task | undefined {
    const tasks = this.#tasks
    const task = tasks[index]
    const last = tasks.pop()
    if (last !== undefined && index < tasks.length) tasks[index] = last
    return task
  }
}
