import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import { defect } from "../../../base/internal/defect.ts"
import { stringify } from "../../../base/internal/json.ts"
import type { Content } from "../../Conversation.ts"
import { isSuccess } from "./event.ts"

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
  start<A, E, R>(name: string, run: (slot: string) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
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
    this.#taken.add(slot)
    const result = run(slot)
    // The body runs for each answer, and most of its operations have a result already.
    if (isSuccess(result)) return result
    this.#running.add(slot)
    return Effect.onExitPrimitive(result, (exit) => {
      this.#running.delete(slot)
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
