/** Defects of calls that happen once. */
import type { Defect } from "./defect.ts"

const programs = ["handlers"]

const calls = "inbox/internal/journal/calls.ts"

const recovery = "inbox/internal/journal/recovery.ts"

export const journalDefects: ReadonlyArray<Defect> = [
  {
    name: "a step that takes the place of a failed one",
    file: "client/internal/journal/slots.ts",
    find: "    fail: (slot: string, name: string, identity?: unknown): void => {",
    replace:
      "    fail: (slot: string, name: string, identity?: unknown): void => {\n      if (slot !== '') return void numbers.set(name, (numbers.get(name) ?? 1) - 1)",
    programs
  },
  {
    name: "a look-up that adopts a call in flight",
    file: recovery,
    find: "return Effect.flatMap(created.settled(call.kind, call.chat_id), () => {",
    replace: "return Effect.flatMap(Effect.void, () => {",
    programs
  },
  {
    name: "a recorded answer is not used",
    file: calls,
    find: 'if (entry?.state === "done") return this.replay(call, entry.text, "replayed")',
    replace: "if (entry === null) return this.replay(call, '', 'replayed')",
    programs
  },
  {
    name: "a call is not recorded before its request leaves",
    file: calls,
    find: "return Effect.map(entries.write(entry), () => entries.set(entry))",
    replace: "return Effect.sync(() => entries.set(entry))",
    programs
  },
  {
    name: "a call whose outcome is not known counts as refused",
    file: calls,
    find: "cause.reasons.every((reason) => Cause.isFailReason(reason) && call.isRefusal(reason.error))",
    replace: "cause.reasons.length > 0",
    programs
  },
  {
    name: "a call whose outcome is not known is not looked for",
    file: recovery,
    find: 'return decision === "lookUp" && call.find !== undefined',
    replace: "return call.find === null && call.find !== undefined",
    programs
  },
  {
    name: "the clock of the process bounds a look-up",
    file: "inbox/internal/journal/past.ts",
    find: "const after = Math.floor(Math.max(happenedAt, time.atLeast(mono, at))) - tolerance",
    replace: "const after = Math.floor(at) - tolerance",
    programs
  },
  {
    name: "a process that does not recognize its own message",
    file: "client/internal/journal/created.ts",
    find: "isOfAnother: (id: string, call: string): boolean => calls.has(id) && calls.get(id)!.call !== call",
    replace: "isOfAnother: (id: string): boolean => calls.has(id)",
    programs: ["handlers", "pipelines"]
  },
  {
    name: "a look-up takes messages of other calls",
    file: recovery,
    find: "!created.isOfAnother(id, calls.idOf(slot)) && !started.created.includes(id)",
    replace: "id !== undefined",
    programs
  },
  {
    name: "a look-up whose message an equal call has taken does not look again",
    file: recovery,
    find: "candidates.some(({ id }) => created.isAddedSince(id, before)) ? look : repeat()",
    replace: "created.isAddedSince('', before) ? look : repeat()",
    programs: ["handlers"]
  },
  {
    name: "the key of a step differs in each attempt",
    file: "inbox/internal/journal/journal.ts",
    find: "    return this.#queued.fingerprint\n",
    replace: "    return `${this.#queued.fingerprint} ${this.#shared.clock.monotonicTimeNanosUnsafe()}`\n",
    programs
  },
  {
    name: "a claim returns no journals",
    file: "inbox/InboxStore.ts",
    find: "if (journals.size === 0) return claimed\n",
    replace: "if (claimed.length > 0) return claimed\n",
    programs
  },
  {
    name: "the result of a step is not written",
    file: calls,
    find: "if (call.isWrittenAtOnce) return Effect.as(entries.write(), answer)",
    replace: "if (call.isWrittenAtOnce) return Effect.succeed(answer)",
    programs: ["handlers", "conversations"]
  },
  {
    name: "a repeated call takes a new slot",
    file: "client/internal/journal/slots.ts",
    find: "      if (again !== undefined) return again\n",
    replace: "",
    programs
  },
  {
    name: "a start that is written after the next start of the same call",
    file: "inbox/internal/journal/entries.ts",
    find: "return Effect.uninterruptible(recorded)",
    replace: "return recorded",
    programs: ["live"],
    situation: "stops"
  },
  {
    name: "a message stays taken after another process has given its call another message",
    file: "client/internal/journal/created.ts",
    find: "calls.delete(before)",
    replace: "void before",
    programs,
    situation: "cuts"
  }
]
