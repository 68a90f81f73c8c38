import * as Update from "../../../model/Update.ts"

const commentTypes = {
  message_created: "comment_created",
  message_edited: "comment_edited",
  message_removed: "comment_removed"
} as const

/** Returns an update of a message with the id of a post as the update of a comment. */
const asComment = (update: Update.Update): Update.Update | undefined => {
  if (!(update.update_type in commentTypes)) return undefined
  const post_id = "post_id" in update ? update.post_id : Update.messageOf(update)?.recipient.post_id
  if (post_id == null) return undefined
  const update_type = commentTypes[update.update_type as keyof typeof commentTypes]
  return { ...update, update_type } as Update.Update
}

/** Returns a function that returns an update if it is of one of these types. */
export const narrow = <const Type extends Update.Update["update_type"]>(types: Type | ReadonlyArray<Type>) => {
  const accepted: ReadonlyArray<string> = typeof types === "string" ? [types] : types
  const acceptsComments = accepted.some((type) => type.startsWith("comment_"))
  const isAccepted = (update: Update.Update): update is Update.Of<Type> => accepted.includes(update.update_type)
  return (update: Update.Update): Update.Of<Type> | undefined => {
    const taken = isAccepted(update) || !acceptsComments ? update : (asComment(update) ?? update)
    return isAccepted(taken) ? taken : undefined
  }
}
