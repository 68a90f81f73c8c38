import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { expects, type Observe, returns, succeeds, withMessage } from "./observe.ts"
import { type Probe, read } from "./probe.ts"

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
    returns(
      probe.call("POST", `/messages/${mid}/comments`, { body: { text: "A comment alone" } }),
      "the comment",
      (body) => Predicate.isString(commentOf(body))
    )
  ),
  getComment: withComment((probe, path, comment_id) =>
    returns(probe.call("GET", `${path}/${comment_id}`), "the comment", { body: { mid: comment_id } })
  ),
  listComments: withComment((probe, path, comment_id) =>
    returns(probe.call("GET", path), "`messages` with the comment", { messages: [{ body: { mid: comment_id } }] })
  ),
  editComment: withComment((probe, path, comment_id) =>
    expects(
      probe.call("PUT", path, { query: { comment_id }, body: { text: "Edited" } }),
      "200 for the query parameter `comment_id`",
      { status: 200 }
    )
  ),
  removeComment: withComment((probe, path, comment_id) =>
    succeeds(probe.call("DELETE", path, { query: { comment_id } }))
  )
} satisfies Readonly<Record<string, Observe>>
