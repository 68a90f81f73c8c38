/** The answer to a call. */
export type Answer = Pick<Response, "ok" | "status" | "statusText" | "text">

/** The callbacks of the page for the stream of events. */
export interface Listener {
  readonly onOpen: () => void
  readonly onLost: () => void
  readonly onEvent: (json: string) => void
}

/** How the page reaches the emulator. The URLs are paths below `/_emulator`. */
export interface Transport {
  readonly request: (url: string, init: RequestInit) => Promise<Answer>
  /** Follows the events. A lost connection is opened again. */
  readonly follow: (url: string, listener: Listener) => void
}

const http: Transport = {
  request: (url, init) => fetch(url, init),
  follow: (url, { onEvent, onLost, onOpen }) => {
    const source = new EventSource(url)
    source.addEventListener("open", onOpen)
    source.addEventListener("error", onLost)
    source.addEventListener("message", ({ data }) => onEvent(data as string))
  }
}

let current = http

/** The transport of the page: HTTP, unless the emulator runs in the page itself. */
export const transport = (): Transport => current

/** Replaces the transport before the page is rendered. */
export const setTransport = (transport: Transport): void => {
  current = transport
}
