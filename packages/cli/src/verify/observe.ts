import * as Effect from "effect/Effect"
import { type Observation, type Probe, read, unless } from "./probe.ts"

export type Observe = Observation["observe"]

export const midOf = (body: unknown): string => String(read(body, "message", "body", "mid"))

type Answered = ReturnType<Probe["call"]>

/** Observes the answer to one call. */
export const expects = (
  answered: Answered,
  expected: string,
  isExpected: (status: number, body: unknown) => boolean
): ReturnType<Observe> =>
  Effect.map(answered, (answer) => unless(isExpected(answer.status, answer.body), expected, answer))

export const succeeds = (answered: Answered) =>
  expects(answered, "`success: true`", (status, body) => status === 200 && read(body, "success") === true)

export const refuses = (answered: Answered, expected: string) => expects(answered, expected, (status) => status === 400)

export const failsWith = (answered: Answered, status: number, code: string) =>
  expects(answered, `${status} \`${code}\``, (found, body) => found === status && read(body, "code") === code)

export const lists = (answered: Answered, name: string) =>
  expects(answered, `\`${name}\``, (status, body) => status === 200 && Array.isArray(read(body, name)))

/** Observes a message that is sent. */
export const sent =
  (
    content: Readonly<Record<string, unknown>>,
    expected: string,
    isExpected: (body: unknown, probe: Probe) => boolean
  ): Observe =>
  (probe) =>
    expects(
      probe.send(content),
      expected,
      (status, body) => status === 200 && isExpected(read(body, "message", "body"), probe)
    )

/** Sends a message, and then observes a call that concerns the message. */
export const withMessage =
  (observe: (probe: Probe, mid: string) => ReturnType<Observe>): Observe =>
  (probe) =>
    Effect.flatMap(probe.send({ text: "A message of colloquy verify-platform" }), ({ body }) =>
      observe(probe, midOf(body))
    )
