import { batch, computed, type Signal, signal } from "@preact/signals"
import { call, CallError, type Name, type Request, type Success } from "./api.ts"
import { ChatLog } from "./chatLog.ts"
import { memoize } from "./memoize.ts"
import type { ChatView, EventOf, Faults, Limits, Message, State, User } from "./types.ts"

/** A pane: the view of one person on a chat. */
export const makePane = (id: number) => ({
  id,
  person: signal<number>(),
  chat: signal<number>(),
  /** The channel post whose comments are shown. */
  post: signal<string>(),
  replyTo: signal<string>(),
  editing: signal<string>(),
  /** The bot that the person is about to start. */
  starting: signal<number>(),
  /** Whether the field of the chat that was opened takes the focus. */
  takesFocus: signal(false)
})

export type Pane = Readonly<ReturnType<typeof makePane>>

/** A chat as the person of a pane sees the chat. */
export interface Seen {
  readonly pane: Pane
  readonly person: number
  readonly view: ChatView
}

/** A message of the page about the result of an action. */
export interface Toast {
  readonly id: number
  readonly kind: "info" | "error"
  readonly text: string
}

/** The names of the tools beside the chat. */
export const toolNames = [
  "timeline",
  "requests",
  "deliveries",
  "limits",
  "clock",
  "faults",
  "people",
  "parts",
  "state"
] as const

export type ToolName = (typeof toolNames)[number]

export const state = signal<State | undefined>(undefined)
export const connection = signal<"connecting" | "open" | "lost">("connecting")
export const panes = signal<ReadonlyArray<Pane>>([makePane(1)])
export const activePane = signal(1)
/** The visible part on a narrow screen. */
export const view = signal<"chats" | "chat" | "tools">("chats")
export const tool = signal<ToolName | undefined>("timeline")
export const toasts = signal<ReadonlyArray<Toast>>([])
/** The answer to a press whose notification is shown. */
export const notification = signal<EventOf<"answer"> | undefined>(undefined)
/** The text that screen readers announce. */
export const announcement = signal("")
/** The last action that a bot showed in each chat, such as typing. */
export const actions = signal<ReadonlyMap<number, EventOf<"action">>>(new Map())
export const unread = signal<ReadonlyMap<number, number>>(new Map())
/** The last message of each chat. */
export const lastMessages = signal<ReadonlyMap<number, Message>>(new Map())
/** Presses that the bot has not answered: the message and the place of the button. */
export const pressed = signal<ReadonlyMap<string, string>>(new Map())

export const requests = signal<ReadonlyArray<EventOf<"request">>>([])
export const updates = signal<ReadonlyArray<EventOf<"update">>>([])
export const handled = signal<ReadonlyArray<EventOf<"handled">>>([])
export const deliveries = signal<ReadonlyArray<EventOf<"delivery">>>([])
export const struck = signal<ReadonlyArray<EventOf<"fault">>>([])
export const limits = signal<Limits | undefined>(undefined)
export const faults = signal<Faults>([])
/** The message whose requests and updates are shown. */
export const messageFilter = signal<string | undefined>(undefined)
/** The request that is shown with its details. */
export const shownRequest = signal<number | undefined>(undefined)
/** The rule of the faults that is marked. */
export const shownRule = signal<string | undefined>(undefined)
/** For each bot, the lowest number of an update that GET /updates has not returned, and of one that is not acknowledged. */
export const polled = signal<ReadonlyMap<number, { readonly taken: number; readonly acknowledged: number }>>(new Map())
/** The bots that wait for updates by long polling. */
export const connectedBots = signal<ReadonlySet<number>>(new Set())

/** The last time from the emulator, and the moment of its arrival. */
export const clockAt = signal({ now: 0, isRunning: true, isVirtual: false, readAt: 0 })

type MapSignal<K, V> = Signal<ReadonlyMap<K, V>>

export const setKey = <K, V>(map: MapSignal<K, V>, key: K, value: V): void => {
  map.value = new Map(map.value).set(key, value)
}

export const deleteKey = <K, V>(map: MapSignal<K, V>, key: K): void => {
  if (map.value.has(key)) map.value = new Map([...map.value].filter(([each]) => each !== key))
}

export const people = computed(() => state.value?.people ?? [])

export const bots = computed(() => state.value?.bots ?? [])

export const users = computed(
  (): ReadonlyMap<number, User> => new Map([...people.value, ...bots.value].map(({ user }) => [user.user_id, user]))
)

export const chats = computed(
  (): ReadonlyMap<number, ChatView> => new Map(state.value?.chats.map((each) => [each.chat.chat_id, each]))
)

export const currentPane = (): Pane => panes.value.find(({ id }) => id === activePane.value) ?? panes.value[0]

const draftOfKey = memoize((_key: string) => signal(""))

/** The text that a person has written in a chat and not sent. */
export const draftOf = (person: number, chat_id: number): Signal<string> => draftOfKey(`${person} ${chat_id}`)

const logs = new Map<number, ChatLog>()

/** The messages of a chat, which are read when the chat is shown for the first time. */
export const logOf = memoize((chat_id: number) => new ChatLog(chat_id), logs)

export const loadedLogs = (): Iterable<ChatLog> => logs.values()

export const clearLogs = (count: number): void => {
  const open = [...logs.values()]
  logs.clear()
  for (const log of open) log.discard(count)
}

export const memberOf = ({ members }: ChatView, user_id: number) => members.find((member) => member.user_id === user_id)

export const isChatMember = (view: ChatView, user_id: number): boolean => memberOf(view, user_id) !== undefined

export const hasRight = (chat: ChatView, user_id: number, right: string): boolean =>
  memberOf(chat, user_id)?.permissions?.some((each) => each === right) === true

export const nameOf = (user_id: number | undefined): string => {
  const user = user_id === undefined ? undefined : users.value.get(user_id)
  if (user === undefined) return user_id === undefined ? "" : `User ${user_id}`
  return [user.first_name, user.last_name].filter(Boolean).join(" ")
}

/** The ids and the names of users, as the options of a choice. */
export const namesOf = (users: ReadonlyArray<{ readonly user: User }>) =>
  users.map(({ user }) => [user.user_id, nameOf(user.user_id)] as const)

/** The title of a chat as a person sees it. */
export const titleOf = ({ chat, members }: ChatView, person: number | undefined): string => {
  if (chat.type !== "dialog") return chat.title ?? `Chat ${chat.chat_id}`
  const other = members.find(({ user_id }) => user_id !== person) ?? members[0]
  return nameOf(other?.user_id)
}

/** The title of a chat as its first bot sees the chat. */
export const botTitleOf = (view: ChatView): string => titleOf(view, view.members.find(({ is_bot }) => is_bot)?.user_id)

let lastToast = 0

export const toast = (text: string, kind: Toast["kind"] = "info"): void => {
  const id = ++lastToast
  toasts.value = [...toasts.value.slice(-3), { id, kind, text }]
  announcement.value = text
  setTimeout(() => dismissToast(id), kind === "error" ? 8000 : 3500)
}

export const dismissToast = (id: number): void => {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Calls the control API, and shows why if the emulator does not accept the call. */
export const act = async <K extends Name>(name: K, request: Request<K>): Promise<Success<K> | undefined> => {
  try {
    return await call(name, request)
  } catch (error) {
    toast(error instanceof CallError ? error.message : String(error), "error")
    return undefined
  }
}

/** Removes the second pane, or adds a second pane with another person. */
export const togglePanes = (): void => {
  const [first, second] = panes.value
  if (second !== undefined) {
    panes.value = [first]
    activePane.value = first.id
    return
  }
  const pane = makePane(2)
  const other = people.value.find(({ user }) => user.user_id !== first.person.value)
  pane.person.value = other?.user.user_id ?? first.person.value
  const chat = first.chat.value === undefined ? undefined : chats.value.get(first.chat.value)
  if (other !== undefined && chat !== undefined && isChatMember(chat, other.user.user_id)) {
    pane.chat.value = chat.chat.chat_id
  }
  panes.value = [first, pane]
}

/** Shows a chat in a pane. */
export const openChat = (pane: Pane, chat_id: number | undefined): void =>
  batch(() => {
    pane.chat.value = chat_id
    pane.post.value = undefined
    pane.replyTo.value = undefined
    pane.editing.value = undefined
    pane.starting.value = undefined
    pane.takesFocus.value = chat_id !== undefined
    activePane.value = pane.id
    if (chat_id === undefined) {
      view.value = "chats"
      return
    }
    view.value = "chat"
    deleteKey(unread, chat_id)
  })

/** Shows the bot that a person is about to start. */
export const showStart = (pane: Pane, bot_id: number): void =>
  batch(() => {
    openChat(pane, undefined)
    pane.starting.value = bot_id
    view.value = "chat"
  })

/** Opens the dialog with a bot, or shows the button that starts the bot. */
export const openBot = (pane: Pane, bot_id: number): void => {
  const person = pane.person.value
  const dialog = [...chats.value.values()].find(
    (view) =>
      view.chat.type === "dialog" && isChatMember(view, bot_id) && person !== undefined && isChatMember(view, person)
  )
  if (dialog === undefined) showStart(pane, bot_id)
  else openChat(pane, dialog.chat.chat_id)
}

/** Shows the chats of another person in a pane. */
export const becomePerson = (pane: Pane, user_id: number): void =>
  batch(() => {
    pane.person.value = user_id
    pane.starting.value = undefined
    const chat = pane.chat.value === undefined ? undefined : chats.value.get(pane.chat.value)
    if (chat !== undefined && !isChatMember(chat, user_id)) openChat(pane, undefined)
  })

/** The time of the emulator now. */
export const emulatorNow = (): number => {
  const { isRunning, now, readAt } = clockAt.value
  return isRunning ? now + (performance.now() - readAt) : now
}

/** Shows a tool beside the chat. */
export const openTool = (name: ToolName): void => {
  tool.value = name
  view.value = "tools"
}
