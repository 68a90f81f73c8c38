import * as Effect from "effect/Effect"
import { Uncertain } from "../../../client/ApiError.ts"
import type { Call, Candidate } from "../../../client/internal/journal/current.ts"
import { CurrentPolicy, type Decision } from "../../Journal.ts"
import type { Calls } from "./calls.ts"
import type { Entries, JournalEntry } from "./entries.ts"
import type { Started } from "./past.ts"

/** The two ways to go on with a call that an earlier attempt has begun, and whose result is not known. */
const makeRecovery = <A, E>(calls: Calls, entries: Entries, slot: string, call: Call<A, E>, started: Started) => {
  const repeat = (): Effect.Effect<A, E> => {
    calls.count("repeated")
    return calls.carryOut(slot, call, started)
  }

  /** Remembers the messages that calls of the same kind have created for this update, also in another process. */
  const rememberCreated = (): Effect.Effect<void> => {
    const answers = entries
      .all()
      .filter(
        ({ slot, state }) => state === "done" && (slot.startsWith(`${call.kind} `) || slot.includes(`/${call.kind} `))
      )
    return Effect.forEach(
      answers,
      ({ slot, text }) =>
        Effect.ignore(Effect.map(call.read(text), (answer) => calls.remember(slot, call, call.created?.(answer)))),
      { discard: true }
    )
  }

  const lookUp = (find: Effect.Effect<ReadonlyArray<Candidate>, E>): Effect.Effect<A, E> => {
    const { created } = call.platform!
    const isFree = ({ id }: Candidate) => !created.isOfAnother(id, calls.idOf(slot)) && !started.created.includes(id)
    const look: Effect.Effect<A, E> = Effect.suspend(() => {
      const before = created.count()
      return Effect.flatMap(find, (candidates) => {
        // An equal call can have taken the message of this call after the list was read. Its own message is then in a new list.
        const none = Effect.suspend(() =>
          candidates.some(({ id }) => created.isAddedSince(id, before)) ? look : repeat()
        )
        if (!candidates.some(isFree)) return none
        // The message may belong to an equal call whose response has not been received.
        return Effect.flatMap(created.settled(call.kind, call.chat_id), () => {
          const found = candidates.find(isFree)
          if (found === undefined) return none
          calls.remember(slot, call, found)
          entries.add({ slot, state: "done", text: found.answer })
          return Effect.andThen(
            entries.write(),
            Effect.suspend(() => calls.replay(call, found.answer, "adopted"))
          )
        })
      })
    })
    return Effect.andThen(calls.awaitPlatform(started), Effect.andThen(rememberCreated(), look))
  }

  return { repeat, lookUp }
}

/** Applies the policy to a call that may have been carried out. */
export const resolve = <A, E>(
  calls: Calls,
  entries: Entries,
  call: Call<A, E>,
  { slot, text }: JournalEntry
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const started = JSON.parse(text) as Started
    const { lookUp, repeat } = makeRecovery(calls, entries, slot, call, started)
    const error = new Uncertain({ call: call.kind === "step" ? call.name : call.kind, startedAt: started.at })
    const policy = fiber.getRef(CurrentPolicy)
    const decide = (decision: Decision): Effect.Effect<A, E> => {
      if (decision === "skip") {
        calls.count("skipped")
        return Effect.fail(call.toError(error))
      }
      return decision === "lookUp" && call.find !== undefined
        ? lookUp(call.find({ ...started, dialog: calls.dialog }))
        : repeat()
    }
    return typeof policy === "string" ? decide(policy) : Effect.flatMap(policy(error), decide)
  })
