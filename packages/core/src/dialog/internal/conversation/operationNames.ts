import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import { bracket } from "../../../base/internal/bracket.ts"
import * as PermanentError from "../../../base/PermanentError.ts"
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
    return bracket(
      () => this.#take(typeof of === "string" ? of : of()),
      run,
      (slot, exit) => {
        this.#running.delete(slot)
        // A failed operation can be run again, together with earlier operations, which return their results.
        if (Exit.isFailure(exit)) this.#taken = new Set(this.#running)
        return undefined
      }
    )
  }

  #take(name: string): string {
    const repetition = this.#repetitions.get(name)
    const slot = repetition === undefined ? name : `${name} ${repetition + 1}`
    if (name === "") throw this.#refusal("an empty name", "")
    // The names of parts end with a slash.
    if (this.#taken.has(slot))
      throw this.#refusal(`the name "${name.replace(/\/$/, "")}" twice`, " In a loop, add the index to the name.")
    this.#taken.add(slot)
    this.#running.add(slot)
    return slot
  }

  #refusal(use: string, advice: string): Error {
    const problem = `The conversation "${this.#conversation}" uses ${use}. Each question, step and sleep needs a name of its own.`
    return PermanentError.mark(new Error(problem + advice))
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
