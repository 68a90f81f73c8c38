import * as Effect from "effect/Effect"
import { type Observation, type Probe, read, unless } from "./probe.ts"

export type Observe = Observation["observe"]

export const keys = (value: unknown): ReadonlyArray<string> =>
  typeof value === "object" && value !== null ? Object.keys(value) : []

export const isList = (value: unknown): boolean => Array.isArray(value)

export const midOf = (body: unknown): string => String(read(body, "message", "body", "mid"))

export const timeOf = (body: unknown): number => Number(read(body, "message", "timestamp"))

export const isSuccess = (status: number, body: unknown): boolean => status === 200 && read(body, "success") === true

/** Observes the answer to one call. */
export const called =
  (
    call: (probe: Probe) => ReturnType<Probe["call"]>,
    expected: string,
    isExpected: (status: number, body: unknown, probe: Probe) => boolean
  ): Observe =>
  (probe) =>
    Effect.map(call(probe), (answer) => unless(isExpected(answer.status, answer.body, probe), expected, answer))

/** Observes a message that is sent. */
export const sent = (
  content: Readonly<Record<string, unknown>>,
  expected: string,
  isExpected: (body: unknown, probe: Probe) => boolean
): Observe =>
  called(
    (probe) => probe.send(content),
    expected,
    (status, body, probe) => status === 200 && isExpected(read(body, "message", "body"), probe)
  )

export const refused = (content: Readonly<Record<string, unknown>>, expected: string): Observe =>
  called(
    (probe) => probe.send(content),
    expected,
    (status) => status === 400
  )

/** Sends a message, and then observes a call that concerns the message. */
export const withMessage =
  (observe: (probe: Probe, mid: string) => ReturnType<Observe>): Observe =>
  (probe) =>
    Effect.flatMap(probe.send({ text: "A message of colloquy verify-platform" }), ({ body }) =>
      observe(probe, midOf(body))
    )
