import * as Json from "@colloquy/core/base/Json"
import { batch, type Signal } from "@preact/signals"
import { call, eventsUrl } from "./api.ts"
import { maxMessages } from "./chatLog.ts"
import { summaryOf } from "./parts/summary.ts"
import * as store from "./store.ts"
import { remember } from "./trail.ts"
import { transport } from "./transport.ts"
import type { EmulatorEvent, EventOf, State } from "./types.ts"

const maxListed = 5000

/** Lists an event, the newest first. */
const prepend = <E extends { readonly id: number }>(list: Signal<ReadonlyArray<E>>, event: E): void => {
  const [newest] = list.value
  if (newest === undefined || newest.id < event.id) list.value = [event, ...list.value.slice(0, maxListed - 1)]
}

const failedInterval = 1000

/**
 * Runs a function once after a burst of calls, and again a second after a failure, because the emulator may be
 * unreachable.
 */
const afterBurst = (run: () => Promise<void>, delay: number): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const runIn = (delay: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      void run().catch(() => runIn(failedInterval))
    }, delay)
  }
  return () => runIn(delay)
}

const setClock = ({ is_running, now }: Pick<State["clock"], "now" | "is_running">, isVirtual: boolean): void => {
  store.clockAt.value = { now, isRunning: is_running, isVirtual, readAt: performance.now() }
}

/** Reads the people, chats and bots. */
export const readState = async (): Promise<State> => {
  const state = await call("getState", undefined)
  batch(() => {
    store.state.value = state
    store.lastMessages.value = new Map(
      state.chats.flatMap(({ chat, last_message }) => (last_message === null ? [] : [[chat.chat_id, last_message]]))
    )
    store.connectedBots.value = new Set(
      state.bots.flatMap(({ is_connected, user }) => (is_connected ? [user.user_id] : []))
    )
    setClock(state.clock, state.clock.is_virtual)
    for (const pane of store.panes.value) choosePerson(pane, state)
  })
  return state
}

const choosePerson = (pane: store.Pane, { bots, people }: State): void => {
  const person = pane.person.value
  if (pane.chat.value !== undefined && !store.chats.value.has(pane.chat.value)) pane.chat.value = undefined
  if (people.some(({ user }) => user.user_id === person)) return
  pane.person.value = people[0]?.user.user_id
  pane.chat.value = undefined
  const [bot, ...otherBots] = bots
  if (bot !== undefined && otherBots.length === 0 && people.length === 1) store.openBot(pane, bot.user.user_id)
}

const refreshState = afterBurst(async () => void (await readState()), 30)

const refreshFaults = afterBurst(async () => {
  store.faults.value = (await call("listFaults", undefined)).faults
}, 150)

/** Reads the use of the limits, and again until nothing is used. */
export const readLimits = async (): Promise<void> => {
  const limits = await call("getLimits", undefined)
  store.limits.value = limits
  if (limits.used.length > 0 && store.tool.value === "limits") refreshLimits()
}

const refreshLimits = afterBurst(readLimits, 250)

const isSeen = (chat_id: number): boolean => store.panes.value.some((pane) => pane.chat.value === chat_id)

const announce = (event: EventOf<"message">): void => {
  if (isSeen(event.chat_id)) store.announcement.value = `${store.nameOf(event.user_id)}: ${summaryOf(event.message)}`
  else store.setKey(store.unread, event.chat_id, (store.unread.value.get(event.chat_id) ?? 0) + 1)
}

const showAction = (event: EventOf<"action">): void => {
  if (event.action === "mark_seen") return
  store.setKey(store.actions, event.chat_id, event)
  setTimeout(() => {
    if (store.actions.value.get(event.chat_id) === event) store.deleteKey(store.actions, event.chat_id)
  }, 5000)
}

const showNotification = (event: EventOf<"answer">): void => {
  store.deleteKey(store.pressed, event.callback_id)
  if (event.notification === undefined) return
  store.notification.value = event
  store.announcement.value = `${store.nameOf(event.bot_id)}: ${event.notification}`
  setTimeout(() => {
    if (store.notification.value === event) store.notification.value = undefined
  }, 5000)
}

/** A poll with a marker acknowledges all updates before the marker, and its response takes the updates before the next. */
const followPoll = ({ bot_id, marker, query }: EventOf<"request">): void => {
  if (bot_id === undefined) return
  const before = store.polled.value.get(bot_id) ?? { taken: 0, acknowledged: 0 }
  const acknowledged = Math.max(before.acknowledged, Number(new URLSearchParams(query).get("marker") ?? 0))
  const taken = Math.max(before.taken, marker ?? 0, acknowledged)
  if (taken === before.taken && acknowledged === before.acknowledged) return
  store.setKey(store.polled, bot_id, { taken, acknowledged })
}

/** The lists of the tools, by the types of their events. */
const lists: Partial<Record<EmulatorEvent["type"], Signal<ReadonlyArray<{ readonly id: number }>>>> = {
  request: store.requests,
  update: store.updates,
  handled: store.handled,
  delivery: store.deliveries,
  fault: store.struck
}

const clearLists = (): void => {
  for (const list of Object.values(lists)) list.value = []
}

const startOver = (count: number): void => {
  batch(() => {
    clearLists()
    store.pressed.value = new Map()
    store.unread.value = new Map()
    store.actions.value = new Map()
    store.clearLogs(count)
  })
  refreshState()
  refreshFaults()
}

/** After a gap, the page reads the last messages again. A bot that sends faster than the page renders causes many gaps. */
const catchUp = afterBurst(() => Promise.resolve(startOver(500)), 1500)

/** Applies an event after which the state was not read again. */
const applyNew = (event: EmulatorEvent): void => {
  switch (event.type) {
    case "message":
      store.deleteKey(store.actions, event.chat_id)
      store.setKey(store.lastMessages, event.chat_id, event.message)
      return announce(event)
    case "action":
      return showAction(event)
    case "press":
      if (event.callback_id !== undefined)
        store.setKey(store.pressed, event.callback_id, `${event.message_id} ${event.button.join(" ")}`)
      return
    case "answer":
      return showNotification(event)
    case "request":
      if (event.endpoint === "Me.setCommands" || event.endpoint?.startsWith("Subscriptions.")) refreshState()
      return
    case "connection": {
      const others = [...store.connectedBots.value].filter((bot_id) => bot_id !== event.bot_id)
      store.connectedBots.value = new Set(event.is_connected ? [...others, event.bot_id] : others)
      return
    }
    case "fault":
      return refreshFaults()
    case "clock":
      return setClock(event, store.clockAt.value.isVirtual)
    case "reset":
      return startOver(maxMessages)
    case "update":
    case "handled":
    case "delivery":
    case "gap":
      return
    default:
      refreshState()
  }
}

/** Applies an event. `isPast`: the state was read after the event. */
export const apply = (event: EmulatorEvent, isPast: boolean): void => {
  remember(event)
  if ("chat_id" in event && event.chat_id !== undefined) store.logOf(event.chat_id).apply(event, isPast)
  const list = lists[event.type]
  if (list !== undefined) prepend(list, event)
  if (event.type === "request") {
    if (event.endpoint === "Updates.list") followPoll(event)
    if (store.tool.value === "limits") refreshLimits()
  }
  if (event.type === "reset") store.polled.value = new Map()
  if (event.type === "gap") catchUp()
  if (!isPast) applyNew(event)
  else if (event.type === "reset") {
    clearLists()
    for (const log of store.loadedLogs()) log.forgetPast()
  }
}

/** Number of past events that the page reads at the start, for the lists and for copied tests. */
const history = 3000

/** Reads the state, and then follows the events. */
export const follow = async (): Promise<void> => {
  const { first_event, next_event } = await readState()
  refreshFaults()
  let queue: Array<EmulatorEvent> = []
  const flush = () => {
    const events = queue
    queue = []
    batch(() => events.forEach((event) => apply(event, event.id < next_event)))
  }
  transport().follow(eventsUrl(Math.max(first_event, next_event - history)), {
    onOpen: () => {
      store.connection.value = "open"
    },
    onLost: () => {
      store.connection.value = "lost"
    },
    onEvent: (json) => {
      // The events of one write are rendered together.
      if (queue.push(Json.parse(json) as EmulatorEvent) === 1) queueMicrotask(flush)
    }
  })
}
