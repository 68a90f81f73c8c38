import type * as RateLimiter from "../RateLimiter.ts"

/** A message to one chat: a dialog is known by its user where its chat is not given. */
export const message = (request: {
  readonly chat_id?: number | null | undefined
  readonly user_id?: number | null | undefined
}): RateLimiter.Claim | undefined =>
  request.chat_id != null
    ? { scope: "messages", key: request.chat_id }
    : request.user_id != null
      ? { scope: "messages", key: `user:${request.user_id}` }
      : undefined

/** A comment under one post. */
export const comment = (request: { readonly message_id: string }): RateLimiter.Claim => ({
  scope: "messages",
  key: `post:${request.message_id}`
})
