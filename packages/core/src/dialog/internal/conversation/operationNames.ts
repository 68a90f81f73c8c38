import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import { defect } from "../../../base/internal/defect.ts"
import { stringify } from "../../../base/internal/json.ts"
import type { Content } from "../../Conversation.ts"

/** The name of an operation, or what returns the name as soon as the operation begins. */
export type Name = string | (() => string)

/** The names of the operations in one run of a conversation. */
export class OperationNames {
  readonly #conversation: string
  /** How often a name was not answered in time. */
  readonly #repetitions = new Map<string, number>()
  /** The names that no other operation can have. */
  #taken = new Set<string>()
  readonly #running = new Set<string>()

  constructor(conversation: string) {
    this.#conversation = conversation
  }

  /** Runs an operation with a name that no other operation of the run has. */
  start<A, E, R>(of: Name, run: (slot: string) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    let taken: string | undefined
    const result = Effect.suspend((): Effect.Effect<A, E, R> => {
      const name = typeof of === "string" ? of : of()
      const repetition = this.#repetitions.get(name)
      const slot = repetition === undefined ? name : `${name} ${repetition + 1}`
      if (name === "") {
        return defect(
          `The conversation "${this.#conversation}" uses an empty name. Each question, step and sleep needs a name of its own.`
        )
      }
      if (this.#taken.has(slot)) {
        return defect(
          // The names of parts end with a slash.
          `The conversation "${this.#conversation}" uses the name "${name.replace(/\/$/, "")}" twice. Each question, step and ` +
            "sleep needs a name of its own. In a loop, add the index to the name."
        )
      }
      taken = slot
      this.#taken.add(slot)
      this.#running.add(slot)
      return run(slot)
    })
    // An interruption cannot come between the use of the name and its end.
    return Effect.onExitPrimitive(result, (exit) => {
      if (taken === undefined) return undefined
      this.#running.delete(taken)
      // A failed operation can be run again, together with earlier operations, which return their results.
      if (Exit.isFailure(exit)) this.#taken = new Set(this.#running)
      return undefined
    })
  }

  /** The question was not answered in time. Asked again under its name, the question is another question. */
  unanswered(name: string): void {
    this.#repetitions.set(name, (this.#repetitions.get(name) ?? 0) + 1)
  }

  /** The order of concurrent branches can differ, so their messages are told apart by their content. */
  ofContent(content: Content): string {
    const digest = Hash.string(stringify(content)).toString(36)
    for (let occurrence = 1; ; occurrence++) {
      const name = `say ${digest} ${occurrence}`
      if (!this.#taken.has(name)) return name
    }
  }
}
