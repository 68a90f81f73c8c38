/** Defects of state, timers, limits, conversations, scenes, live messages and broadcasts. */
import type { Defect } from "./defect.ts"

const programs = ["handlers"]

export const stateDefects: ReadonlyArray<Defect> = [
  {
    name: "an acknowledgement does not write the state",
    file: "inbox/internal/consumer/changes.ts",
    find: "...(this.states?.writes() ?? []),",
    replace: "...(this.states?.writes() ?? []).slice(0, 0),",
    programs
  },
  {
    name: "an acknowledgement does not set the timers",
    file: "inbox/internal/consumer/changes.ts",
    find: ", ...this.#timers.values()]",
    replace: "]",
    programs
  },
  {
    name: "a state is written without comparing its revision",
    file: "inbox/internal/store/memoryRows.ts",
    find: "({ expected, key }: RowWrite): boolean =>\n    expected === undefined ||",
    replace:
      '({ expected, key, otherwise }: RowWrite): boolean =>\n    expected === undefined || otherwise !== "skip" ||',
    programs
  },
  {
    name: "a timer is set before its update is acknowledged",
    file: "bot/internal/timers/scheduling.ts",
    find: "if (changes.isClosed) return inStore(inbox, row)",
    replace: "if (changes !== undefined) return inStore(inbox, row)",
    programs
  },
  {
    name: "a consumer does not learn when the next timer is due",
    file: "inbox/internal/kernel/polling.ts",
    find: "this.#nextTimer = mono + Math.max(millis, pause)",
    replace: "this.#nextTimer = mono + Math.max(millis, pause) * Infinity",
    programs
  },
  {
    name: "a timer that is cancelled stays",
    file: "inbox/internal/store/memoryRows.ts",
    find: "if (write.row === undefined) rows.delete(write.key)\n",
    replace: "if (write.row === undefined) rows.get(write.key)?.dueAt === undefined && rows.delete(write.key)\n",
    programs: ["conversations", "scenes"]
  },
  {
    name: "a timer is moved to the queue early",
    file: "inbox/internal/store/memoryRows.ts",
    find: "row.dueAt > now) return\n",
    replace: "row.dueAt > now + 3000) return\n",
    programs
  },
  {
    name: "the update of a timer has another fingerprint than its row",
    file: "inbox/InboxStore.ts",
    find: "{ fingerprint: revision, ",
    replace: "{ fingerprint: `${revision}0`, ",
    programs
  },
  {
    name: "a permit does not count for its chat",
    file: "client/internal/rateLimiter/window.ts",
    find: "      record(bucket, countedAt)\n",
    replace: "",
    programs: ["handlers", "live"]
  },
  {
    name: "a permit counts for half of the window",
    file: "client/internal/rateLimiter/window.ts",
    find: "times[times.length - limit] + window - now",
    replace: "times[times.length - limit] + window / 2 - now",
    programs: ["live", "handlers"]
  },
  {
    name: "a conversation does not set its timeout",
    file: "dialog/internal/conversation/turn.ts",
    find: "    yield* setTimer(at, before, after)\n",
    replace: "",
    programs: ["conversations"]
  },
  {
    name: "a conversation that ends keeps its timeout",
    file: "dialog/internal/conversation/turn.ts",
    find: "    yield* setTimer(at, record, undefined)\n",
    replace: "",
    programs: ["conversations"]
  },
  {
    name: "a conversation that ends keeps its answers",
    file: "dialog/internal/conversation/turn.ts",
    find: '    yield* at.conversation.state.clear\n  },\n  Effect.catchTag("NoStateKey", Effect.die)',
    replace: '  },\n  Effect.catchTag("NoStateKey", Effect.die)',
    programs: ["conversations"]
  },
  {
    name: "a scene that is left keeps the time of its state",
    file: "dialog/internal/scene/machine.ts",
    find: "if (timeout !== undefined) yield* timing(machine, (timers) => timers.in(timeout, entered.since))",
    replace:
      "if (timeout !== undefined && current === undefined) yield* timing(machine, (timers) => timers.in(timeout, entered.since))",
    programs: ["scenes"]
  },
  {
    name: "a live message that was found counts as up to date",
    file: "live/internal/liveMessage/messages.ts",
    find: "shown = { id, text: sent?.text, hasKeyboard: sent !== undefined }",
    replace: "shown = { id, text: sent?.text ?? body().text, hasKeyboard: true }",
    programs: ["live"]
  },
  {
    name: "the end of a live message is not shown",
    file: "live/internal/liveMessage/writer.ts",
    find: 'if (message.text !== body.text || isMarked) yield* messages.edit(message, () => body, "reply")',
    replace: 'if (message.text === undefined) yield* messages.edit(message, () => body, "reply")',
    programs: ["live"]
  },
  {
    name: "a live message does not notice that somebody has deleted it",
    file: "live/internal/liveMessage/run.ts",
    find: "isNotFound(error) || (isForbidden(error)",
    replace: "(isForbidden(error)",
    programs: ["live"]
  },
  {
    name: "a broadcast does not ask who has a result",
    file: "broadcast/internal/run.ts",
    find: "retryStore(store.pending(name, candidates))",
    replace: "Effect.succeed(candidates)",
    programs: ["broadcasts"]
  },
  {
    name: "a broadcast does not store its results",
    file: "broadcast/internal/run.ts",
    find: "retryStore(store.addRecords(name, [recordOf(outcome, clock.currentTimeMillisUnsafe())]))",
    replace: "Effect.void",
    programs: ["broadcasts"]
  },
  {
    name: "a runner renews a lease that another runner has had meanwhile",
    file: "broadcast/internal/memoryStore.ts",
    find: "(!request.create || broadcast.leaseUntil > now)",
    replace: "broadcast.leaseUntil > now",
    programs: ["broadcasts"],
    situation: "cuts"
  }
]
