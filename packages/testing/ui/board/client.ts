import * as Json from "@colloquy/core/base/Json"
import type { Summary } from "@colloquy/core/broadcast/Broadcast"
import type { KnownChat } from "@colloquy/core/bot/ChatStore"
import type { SetTimer } from "@colloquy/core/bot/Timer"
import type * as Operations from "@colloquy/core/tools/Operations"
import { signal } from "@preact/signals"
import { useEffect, useState } from "preact/hooks"
import { toast } from "../store.ts"

interface Rows<A> {
  readonly rows: ReadonlyArray<A>
  readonly more: boolean
}

/** The data of the board, by name. */
export interface Views {
  readonly status: Operations.Status & {
    readonly paused: boolean
    readonly replay?: { readonly total: number; readonly done: number }
  }
  readonly updates: Rows<ReturnType<typeof Operations.logToJson>>
  readonly dead: Rows<ReturnType<typeof Operations.deadLetterToJson> & { readonly chat?: string }>
  readonly chats: Rows<KnownChat>
  readonly timers: Rows<Omit<SetTimer, "dueAt"> & { readonly due_at: number }>
  readonly broadcasts: Rows<Omit<Summary, "startedAt"> & { readonly started_at: number }>
}

export type Query = Readonly<Record<string, string | number | undefined>>

const key = "colloquy-board-token"

/** The token of the address, which is removed from the address, or the token that the tab had before. */
const readToken = (): string | undefined => {
  const [, given] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (given === undefined) return sessionStorage.getItem(key) ?? undefined
  history.replaceState(null, "", location.pathname + location.search)
  sessionStorage.setItem(key, decodeURIComponent(given))
  return decodeURIComponent(given)
}

export const token = signal(readToken())

/** Why there are no data: the board cannot be reached, or does not accept the token. */
export const problem = signal<string | undefined>(undefined)

/** Grows with each action, after which the data are read again. */
const version = signal(0)

export const setToken = (given: string): void => {
  sessionStorage.setItem(key, given)
  problem.value = undefined
  token.value = given
}

const send = async (method: string, name: string, query: Query): Promise<unknown> => {
  const fields = new URLSearchParams()
  for (const [field, value] of Object.entries(query)) if (value !== undefined) fields.set(field, String(value))
  const headers = { "x-colloquy-token": token.value ?? "" }
  const response = await fetch(`api/${name}?${fields}`, { method, headers })
  const body = Json.parse(await response.text()) as { readonly message?: string }
  if (response.ok) return body
  if (response.status === 401 || response.status === 403) {
    sessionStorage.removeItem(key)
    token.value = undefined
    problem.value = body.message
  }
  throw new Error(body.message)
}

const messageOf = (error: unknown): string =>
  error instanceof TypeError ? "The board cannot be reached. Trying again." : (error as Error).message

/** Runs an action, and shows what it did, or why it did nothing. */
export const act = async (name: string, query: Query = {}): Promise<void> => {
  try {
    toast(((await send("POST", name, query)) as { readonly done: string }).done)
  } catch (error) {
    toast(messageOf(error), "error")
  }
  version.value++
}

const interval = 2000

/** The data of a view, which are read again every 2 seconds while the page is visible, and after each action. */
export const useView = <K extends keyof Views>(name: K, query: Query = {}) => {
  const [read, setRead] = useState<{ readonly data?: Views[K]; readonly error?: string }>({})
  const dependency = Json.stringify(query)
  useEffect(() => {
    let isCurrent = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const next = async (): Promise<void> => {
      if (!document.hidden) {
        const found = await send("GET", name, query).then(
          (data) => ({ data: data as Views[K] }),
          (error: unknown) => ({ error: messageOf(error) })
        )
        if (isCurrent) setRead(found)
      }
      if (isCurrent) timer = setTimeout(() => void next(), interval)
    }
    void next()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [name, dependency, token.value, version.value])
  return read
}
