import * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A call of a function that waits for the approval of a person. */
export const Call = Schema.Struct({
  approvalId: Schema.String,
  id: Schema.String,
  name: Schema.String,
  params: Schema.Unknown
})

export type Call = typeof Call.Type

/** The decision about a call. `reason` is for the model, if the call was not approved. */
export interface Decision {
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
}

/** An error of the assistant itself. */
export const failed = (method: "approval" | "reply", description: string): AiError.AiError =>
  AiError.make({ module: "Assistant", method, reason: new AiError.UnknownError({ description }) })

/** The decision that a call is not made. */
export const decline = ({ approvalId }: Call, reason: string): Decision => ({ approvalId, approved: false, reason })

export const reasons = {
  declined: "The user has declined this call.",
  late: "Nobody has decided about this call in time.",
  other: "The user has not decided about this call, and has written another message.",
  noPlace: "Nobody can be asked to approve this call here.",
  stopped: "The user has stopped the answer before this call.",
  unknown: "This function does not exist any more."
} as const

/** Returns the calls that wait for an approval. */
export const pendingIn = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<Call> => {
  const calls = new Map<string, Prompt.ToolCallPart>()
  const requests = new Map<string, string>()
  for (const { content } of messages) {
    for (const part of typeof content === "string" ? [] : content) {
      if (part.type === "tool-call") calls.set(part.id, part)
      if (part.type === "tool-approval-request") requests.set(part.approvalId, part.toolCallId)
      if (part.type === "tool-approval-response") requests.delete(part.approvalId)
    }
  }
  return [...requests].flatMap(([approvalId, toolCallId]) => {
    const call = calls.get(toolCallId)
    return call === undefined ? [] : [{ approvalId, id: call.id, name: call.name, params: call.params }]
  })
}

const message = (
  resolved: ReadonlyArray<readonly [Prompt.ToolApprovalResponsePart, Prompt.ToolResultPart]>
): Prompt.Message =>
  Prompt.toolMessage({
    content: [...resolved.map(([response]) => response), ...resolved.map(([, result]) => result)]
  })

const refused = ({ approvalId, id, name }: Call, reason: string) =>
  [
    Prompt.toolApprovalResponsePart({ approvalId, approved: false, reason }),
    Prompt.toolResultPart({
      id,
      name,
      isFailure: true,
      result: { type: "execution-denied", reason },
      providerExecuted: false
    })
  ] as const

/** The message that tells the model that calls were refused. */
export const refusalOf = (calls: ReadonlyArray<Call>, reason: string): ReadonlyArray<Prompt.Message> =>
  calls.length === 0 ? [] : [message(calls.map((call) => refused(call, reason)))]

/** Runs the functions that were approved. Returns the message with their results and with the refusals. */
export const resolve = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.WithHandler<Tools>,
  calls: ReadonlyArray<Call>,
  decisions: ReadonlyArray<Decision>
) =>
  Effect.map(
    Effect.forEach(calls, (call) => {
      const decision = decisions.find(({ approvalId }) => approvalId === call.approvalId)
      if (decision?.approved !== true) return Effect.succeed(refused(call, decision?.reason ?? reasons.other))
      return Object.hasOwn(toolkit.tools, call.name)
        ? approved(toolkit, call)
        : Effect.succeed(refused(call, reasons.unknown))
    }),
    message
  )

const approved = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.WithHandler<Tools>,
  { approvalId, id, name, params }: Call
) =>
  Stream.unwrap(toolkit.handle(name, params as Tool.ParametersEncoded<Tools[string]>, id)).pipe(
    Stream.filter(({ preliminary }) => preliminary !== true),
    Stream.runLast,
    Effect.flatMap(
      Option.match({
        onNone: () => failed("approval", `The function "${name}" has no result.`),
        onSome: Effect.succeed
      })
    ),
    Effect.map(
      ({ encodedResult, isFailure, modelOutput }) =>
        [
          Prompt.toolApprovalResponsePart({ approvalId, approved: true }),
          Prompt.toolResultPart({
            id,
            name,
            isFailure,
            result: encodedResult,
            ...(modelOutput === undefined ? {} : { modelOutput }),
            providerExecuted: false
          })
        ] as const
    )
  )
