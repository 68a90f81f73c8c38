import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { Button, IconButton } from "../parts/Button.tsx"
import { midOf } from "../chatLog.ts"
import { sizeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { Menu } from "../parts/Menu.tsx"
import { act, bots, draftOf, logOf, nameOf, type Seen } from "../store.ts"
import type { ChatView } from "../types.ts"
import { type Draft, upload } from "./files.ts"
import { forms } from "./forms.tsx"

/** The commands of the bots in a chat that begin with the typed text. */
const suggestionsFor = ({ members }: ChatView, text: string) => {
  const [, typed] = /^\/(\S*)$/.exec(text) ?? []
  if (typed === undefined) return []
  return bots.value
    .filter(({ user }) => members.some(({ user_id }) => user_id === user.user_id))
    .flatMap(({ commands }) => commands)
    .filter(({ name }) => name.startsWith(typed))
}

interface DraftsProps {
  readonly drafts: ReadonlyArray<Draft>
  readonly onRemove: (draft: Draft) => void
}

const Drafts = ({ drafts, onRemove }: DraftsProps) =>
  drafts.length === 0 ? null : (
    <ul class="drafts" aria-label="Attached files">
      {drafts.map((draft) => (
        <li key={draft.id}>
          <bdi>{draft.name}</bdi>
          <small>
            {draft.type}, {sizeOf(draft.size)}
          </small>
          <IconButton icon="close" label={`Do not send ${draft.name}`} onClick={() => onRemove(draft)} />
        </li>
      ))}
    </ul>
  )

/** A draft as an attachment of `POST /messages`. */
const toAttachment = ({ name, size, token, type }: Draft) => ({
  type,
  payload: { token },
  ...(type === "file" ? { filename: name, size } : {})
})

const sticker = { type: "sticker", payload: { code: "👋", url: "" }, width: 128, height: 128 }

/** Files, audio, contacts and stickers are sent alone; images and videos together. */
const inMessages = (drafts: ReadonlyArray<Draft>): ReadonlyArray<ReadonlyArray<Draft>> => {
  const album = drafts.filter(({ type }) => type === "image" || type === "video")
  const alone = drafts.filter((draft) => !album.includes(draft)).map((draft) => [draft])
  return album.length === 0 ? alone : [album, ...alone]
}

/** The field in which a person writes. */
export const Composer = ({ pane, person, view }: Seen) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const { chat_id, type } = view.chat
  const text = draftOf(person, chat_id)
  /** The draft while a message is edited. */
  const kept = useRef("")
  const chosen = useSignal(0)
  const [drafts, setDrafts] = useState<ReadonlyArray<Draft>>([])
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [form, setForm] = useState<keyof typeof forms | undefined>()
  const Form = form === undefined ? undefined : forms[form]
  const log = logOf(chat_id)
  const replied = pane.replyTo.value === undefined ? undefined : log.find(pane.replyTo.value)
  const edited = pane.editing.value === undefined ? undefined : log.find(pane.editing.value)
  const quoted = edited ?? replied
  const suggestions = suggestionsFor(view, text.value)
  const selected = suggestions.length === 0 ? -1 : Math.min(chosen.value, suggestions.length - 1)

  // The focus moves before the quote is painted, so that the field receives all further keys.
  useLayoutEffect(() => {
    if (edited !== undefined) {
      kept.current = text.value
      text.value = edited.message.body?.text ?? ""
    }
    if (edited !== undefined || replied !== undefined) field.current?.focus()
  }, [edited?.mid, replied?.mid])

  useLayoutEffect(() => {
    if (!pane.takesFocus.value) return
    pane.takesFocus.value = false
    // On a touch screen, the focus would open the keyboard.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus()
  }, [pane.takesFocus.value])

  const cancel = () => {
    if (edited !== undefined) text.value = kept.current
    pane.replyTo.value = undefined
    pane.editing.value = undefined
  }

  const send = async (attachments: ReadonlyArray<unknown> = []): Promise<void> => {
    const written = text.value.trim()
    const ids = { user_id: person as never }
    if (edited !== undefined) {
      if (written === "") return
      const done = await act("edit", { ...ids, message_id: edited.mid as never, text: written })
      if (done !== undefined) cancel()
      return
    }
    const groups = attachments.length > 0 ? [attachments] : inMessages(drafts).map((group) => group.map(toAttachment))
    if (written === "" && groups.length === 0) return
    text.value = ""
    setDrafts([])
    const link = replied === undefined ? {} : { link: { type: "reply" as const, mid: midOf(replied.message) as never } }
    cancel()
    const messages = groups.length === 0 ? [[]] : groups
    for (const [index, group] of messages.entries()) {
      const content = index === 0 && written !== "" ? { text: written, format: "markdown" as const } : {}
      const sent = await act("sendMessage", { ...ids, chat_id, ...content, ...link, attachments: group })
      if (sent === undefined && index === 0 && text.value === "") text.value = written
    }
  }

  const complete = (name: string) => {
    text.value = `/${name} `
    field.current?.focus()
  }

  const addFiles = async (files: Iterable<File>): Promise<void> => {
    const added = await upload(files)
    setDrafts((before) => [...before, ...added].slice(0, 12))
    field.current?.focus()
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    if (selected >= 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault()
      chosen.value = (selected + (event.key === "ArrowDown" ? 1 : suggestions.length - 1)) % suggestions.length
    } else if (selected >= 0 && event.key === "Tab") {
      event.preventDefault()
      complete(suggestions[selected].name)
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault()
      if (selected >= 0 && text.value !== `/${suggestions[selected].name}`) complete(suggestions[selected].name)
      else void send()
    } else if (event.key === "Escape") cancel()
    else if (event.key === "ArrowUp" && text.value === "") {
      const own = log
        .last(Infinity)
        .findLast(({ isRemoved, message }) => !isRemoved && message.sender?.user_id === person)
      if (own === undefined) return
      event.preventDefault()
      pane.editing.value = own.mid
    }
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {suggestions.length === 0 ? null : (
        <ul class="suggestions" role="listbox" id={`commands-${pane.id}`} aria-label="Commands of the bot">
          {suggestions.map(({ description, name }, index) => (
            <li key={name} id={`command-${pane.id}-${index}`} role="option" aria-selected={index === selected}>
              <Button tabIndex={-1} onClick={() => complete(name)}>
                <b>/{name}</b> <span>{description}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      {quoted === undefined ? null : (
        <div class="quoting">
          <span>
            <b>{edited === undefined ? `Reply to ${nameOf(quoted.message.sender?.user_id)}` : "Edit"}</b>
            <bdi>{quoted.message.body?.text || "message"}</bdi>
          </span>
          <IconButton icon="close" label="Cancel" onClick={cancel} />
        </div>
      )}
      <Drafts drafts={drafts} onRemove={(draft) => setDrafts(drafts.filter((each) => each !== draft))} />
      <div class="composer-row">
        <div class="menu-anchor">
          <IconButton icon="attach" label="Attach" aria-haspopup="menu" onClick={() => setMenuOpen(true)} />
          {isMenuOpen ? (
            <Menu
              label="Attach"
              onClose={() => setMenuOpen(false)}
              items={[
                { label: "Photo, video or file", run: () => picker.current?.click() },
                { label: "Contact", run: () => setForm("contact") },
                { label: "Place", run: () => setForm("place") },
                { label: "Sticker", run: () => void send([sticker]) }
              ]}
            />
          ) : null}
        </div>
        <input
          ref={picker}
          type="file"
          class="hidden"
          multiple
          aria-label="Files to attach"
          tabIndex={-1}
          onChange={({ currentTarget }) => {
            void addFiles([...(currentTarget.files ?? [])]).then(() => (currentTarget.value = ""))
          }}
        />
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          placeholder={type === "channel" ? "Post" : "Message, with **markdown**"}
          aria-label={type === "channel" ? "Post" : "Message"}
          aria-autocomplete="list"
          aria-controls={selected >= 0 ? `commands-${pane.id}` : undefined}
          aria-activedescendant={selected >= 0 ? `command-${pane.id}-${selected}` : undefined}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
            chosen.value = 0
          }}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])]
            if (files.length === 0) return
            event.preventDefault()
            void addFiles(files)
          }}
        />
        <button type="submit" class="send" aria-label={edited === undefined ? "Send" : "Save"}>
          <Icon name="send" />
        </button>
      </div>
      {Form === undefined ? null : (
        <Form person={person} onClose={() => setForm(undefined)} onSend={(attachment) => void send([attachment])} />
      )}
      <DropZone onFiles={(files) => void addFiles(files)} />
    </form>
  )
}

/** Receives files that are dropped on the conversation. */
const DropZone = ({ onFiles }: { readonly onFiles: (files: ReadonlyArray<File>) => void }) => {
  const marker = useRef<HTMLDivElement>(null)
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const zone = marker.current?.closest<HTMLElement>(".conversation")
    if (zone == null) return undefined
    const leave = (event: DragEvent) => {
      if (!zone.contains(event.relatedTarget as Node | null)) setOver(false)
    }
    const take = (event: DragEvent) => {
      const { dataTransfer, type } = event
      if (dataTransfer?.types.includes("Files") !== true) return
      event.preventDefault()
      setOver(type === "dragover")
      if (type === "drop") onFiles([...dataTransfer.files])
    }
    const listening = new AbortController()
    const { signal } = listening
    zone.addEventListener("dragover", take, { signal })
    zone.addEventListener("dragleave", leave, { signal })
    zone.addEventListener("drop", take, { signal })
    return () => listening.abort()
  }, [])
  return (
    <div ref={marker} class={isOver ? "drop-zone over" : "drop-zone"} aria-hidden="true">
      Drop files to attach them
    </div>
  )
}
