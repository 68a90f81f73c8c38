import * as Effect from "effect/Effect"
import { type Observation, type Probe, read, unless } from "./probe.ts"

export type Observe = Observation["observe"]

export const midOf = (body: unknown): string => String(read(body, "message", "body", "mid"))

type Answered = ReturnType<Probe["call"]>

/** Parts of JSON: values that are equal, or functions that accept a value. */
export type Pattern =
  | string
  | number
  | boolean
  | undefined
  | ((value: unknown) => boolean)
  | ReadonlyArray<Pattern>
  | { readonly [key: string]: Pattern }

const matches = (value: unknown, pattern: Pattern): boolean => {
  if (typeof pattern === "function") return pattern(value)
  if (typeof pattern !== "object") return value === pattern
  return Object.entries(pattern).every(([key, part]) => matches(read(value, key), part))
}

/** Whether a list has an element of the pattern. */
export const some =
  (pattern: Pattern) =>
  (list: unknown): boolean =>
    Array.isArray(list) && list.some((element) => matches(element, pattern))

/** Observes the status and the body of the answer to one call. */
export const expects = (
  answered: Answered,
  expected: string,
  pattern: { readonly status?: Pattern; readonly body?: Pattern }
): ReturnType<Observe> => Effect.map(answered, (answer) => unless(matches(answer, pattern), expected, answer))

/** Observes the body of the answer to a call that succeeds. */
export const returns = (answered: Answered, expected: string, body: Pattern) =>
  expects(answered, expected, { status: 200, body })

export const succeeds = (answered: Answered) => returns(answered, "`success: true`", { success: true })

export const refuses = (answered: Answered, expected: string) => expects(answered, expected, { status: 400 })

export const failsWith = (answered: Answered, status: number, code: string) =>
  expects(answered, `${status} \`${code}\``, { status, body: { code } })

export const lists = (answered: Answered, name: string) => returns(answered, `\`${name}\``, { [name]: Array.isArray })

/** Observes the body of a message that is sent. */
export const sent =
  (content: Readonly<Record<string, unknown>>, expected: string, body: Pattern): Observe =>
  (probe) =>
    returns(probe.send(content), expected, { message: { body } })

/** Sends a message, and then observes a call that concerns the message. */
export const withMessage =
  (observe: (probe: Probe, mid: string) => ReturnType<Observe>): Observe =>
  (probe) =>
    Effect.flatMap(probe.send({ text: "A message of colloquy verify-platform" }), ({ body }) =>
      observe(probe, midOf(body))
    )
