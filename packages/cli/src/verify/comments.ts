import * as Effect from "effect/Effect"
import { isSuccess, type Observe, withMessage } from "./observe.ts"
import { type Probe, read, unless } from "./probe.ts"

const commentOf = (body: unknown): unknown => read(body, "body", "mid") ?? read(body, "message", "body", "mid")

/** Observes a comment on a post. */
const withComment = (observe: (probe: Probe, path: string, comment_id: string) => ReturnType<Observe>): Observe =>
  withMessage((probe, mid) =>
    Effect.gen(function* () {
      const path = `/messages/${mid}/comments`
      const { body } = yield* probe.call("POST", path, { body: { text: "A comment" } })
      return yield* observe(probe, path, String(commentOf(body)))
    })
  )

/** The observations of comments, in a channel. */
export const comments = {
  sendComment: withMessage((probe, mid) =>
    Effect.map(
      probe.call("POST", `/messages/${mid}/comments`, { body: { text: "A comment alone" } }),
      ({ body, status }) =>
        unless(status === 200 && typeof commentOf(body) === "string", "the comment", { status, body })
    )
  ),
  getComment: withComment((probe, path, comment_id) =>
    Effect.map(probe.call("GET", `${path}/${comment_id}`), ({ body, status }) =>
      unless(status === 200 && read(body, "body", "mid") === comment_id, "the comment", { status, body })
    )
  ),
  listComments: withComment((probe, path, comment_id) =>
    Effect.map(probe.call("GET", path), ({ body, status }) =>
      unless(status === 200 && read(body, "messages", 0, "body", "mid") === comment_id, "`messages` with the comment", {
        status,
        body
      })
    )
  ),
  editComment: withComment((probe, path, comment_id) =>
    Effect.map(probe.call("PUT", path, { query: { comment_id }, body: { text: "Edited" } }), ({ body, status }) =>
      unless(status === 200, "200 for the query parameter `comment_id`", { status, body })
    )
  ),
  removeComment: withComment((probe, path, comment_id) =>
    Effect.map(probe.call("DELETE", path, { query: { comment_id } }), ({ body, status }) =>
      unless(isSuccess(status, body), "`success: true`", { status, body })
    )
  )
} satisfies Readonly<Record<string, Observe>>
