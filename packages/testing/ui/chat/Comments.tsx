import { useRef, useState } from "preact/hooks"
import { Button, IconButton } from "../parts/Button.tsx"
import { call } from "../api.ts"
import { Avatar, toneOf } from "../parts/Avatar.tsx"
import { Check } from "../parts/Field.tsx"
import { preciseTime, timeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { Marked } from "../parts/Markup.tsx"
import { useRead } from "../parts/useRead.ts"
import { act, hasRight, logOf, memberOf, nameOf, type Seen } from "../store.ts"
import type { Comment } from "../types.ts"
import { Attachments } from "./Attachments.tsx"
import { trailOf } from "../trail.ts"

const useComments = (chat_id: number, mid: string) => {
  const count = logOf(chat_id).commentCounts.value
  const edits = trailOf(chat_id).length
  const read = () => call("listComments", { message_id: mid as never }).catch(() => ({ comments: [] }))
  return useRead(read, [mid, count, edits])?.comments
}

interface OneProps extends Seen {
  readonly comment: Comment
  readonly onReply: () => void
  readonly onEdit: () => void
}

const One = ({ comment, onEdit, onReply, pane, person, view }: OneProps) => {
  const { body, link, sender, timestamp } = comment
  const name = sender == null ? (view.chat.title ?? "Channel") : nameOf(sender.user_id)
  const isOwn = sender?.user_id === person
  const ids = { user_id: person as never, comment_id: body.mid }
  return (
    <article class="message comment" aria-label={`${name}: ${body.text ?? ""}`}>
      <Avatar id={sender?.user_id ?? view.chat.chat_id} name={name} small />
      <div class="stack">
        <div class="bubble">
          <b class={`author ${toneOf(sender?.user_id ?? 0)}`}>{name}</b>
          {link == null ? null : (
            <span class="reply-to">
              <b>{nameOf(link.sender?.user_id)}</b>
              <bdi>{link.message?.text}</bdi>
            </span>
          )}
          <Marked text={body.text ?? ""} markup={body.markup} pane={pane} />
          <span class="meta">
            <time title={preciseTime(timestamp)}>{timeOf(timestamp)}</time>
          </span>
        </div>
        <span class="comment-actions">
          <Button onClick={onReply}>Reply</Button>
          {isOwn ? <Button onClick={onEdit}>Edit</Button> : null}
          {isOwn || hasRight(view, person, "delete") ? (
            <Button onClick={() => void act("removeComment", ids)}>Remove</Button>
          ) : null}
        </span>
      </div>
    </article>
  )
}

/** The comments on a channel post. */
export const Comments = ({ mid, pane, person, view }: Seen & { readonly mid: string }) => {
  const { chat_id } = view.chat
  const post = logOf(chat_id).find(mid)
  const comments = useComments(chat_id, mid)
  const field = useRef<HTMLTextAreaElement>(null)
  /** The comment that is answered or edited. */
  const [target, setTarget] = useState<{ readonly comment: Comment; readonly isEdit: boolean } | undefined>()
  const [isOnBehalf, setOnBehalf] = useState(false)
  const isAdmin = memberOf(view, person)?.is_admin === true
  const send = async (): Promise<void> => {
    const text = field.current?.value.trim() ?? ""
    if (text === "") return
    const user_id = person as never
    const known = target?.comment.body.mid
    const reply = known === undefined ? {} : { reply_to: known }
    const done =
      known !== undefined && target?.isEdit === true
        ? await act("editComment", { user_id, comment_id: known, text })
        : await act("sendComment", { user_id, message_id: mid as never, text, on_behalf: isOnBehalf, ...reply })
    if (done === undefined || field.current === null) return
    field.current.value = ""
    setTarget(undefined)
  }
  const start = (comment: Comment, isEdit: boolean) => {
    setTarget({ comment, isEdit })
    if (field.current !== null && isEdit) field.current.value = comment.body.text ?? ""
    field.current?.focus()
  }
  return (
    <section class="conversation" aria-label="Comments">
      <header class="chat-header">
        <IconButton icon="back" label="Back to the channel" onClick={() => (pane.post.value = undefined)} />
        <span class="chat-title">
          <span class="title">Comments</span>
          <small>{view.chat.title}</small>
        </span>
      </header>
      <div class="messages" tabIndex={0}>
        <div class="messages-inner">
          {post === undefined ? null : (
            <div class="post">
              <Attachments list={post.message.body?.attachments ?? []} />
              <Marked text={post.message.body?.text ?? ""} markup={post.message.body?.markup} pane={pane} />
            </div>
          )}
          {comments?.length === 0 ? <p class="empty">There are no comments yet.</p> : null}
          {comments?.map((comment) => (
            <One
              key={comment.body.mid}
              comment={comment}
              pane={pane}
              view={view}
              person={person}
              onReply={() => start(comment, false)}
              onEdit={() => start(comment, true)}
            />
          ))}
        </div>
      </div>
      {view.has_comments ? (
        <form
          class="composer"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          {target === undefined ? null : (
            <div class="quoting">
              <span>
                <b>{target.isEdit ? "Edit" : `Reply to ${nameOf(target.comment.sender?.user_id)}`}</b>
                <bdi>{target.comment.body.text}</bdi>
              </span>
              <IconButton icon="close" label="Cancel" onClick={() => setTarget(undefined)} />
            </div>
          )}
          {isAdmin ? (
            <Check text="On behalf of the channel" checked={isOnBehalf} onChange={() => setOnBehalf(!isOnBehalf)} />
          ) : null}
          <div class="composer-row">
            <textarea
              ref={field}
              rows={1}
              dir="auto"
              placeholder="Comment"
              aria-label="Comment"
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
                event.preventDefault()
                void send()
              }}
            />
            <button type="submit" class="send" aria-label="Send">
              <Icon name="send" />
            </button>
          </div>
        </form>
      ) : (
        <p class="composer-note">Comments are disabled in the channel.</p>
      )}
    </section>
  )
}
