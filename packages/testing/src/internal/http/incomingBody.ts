import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import { type Body, Unreadable } from "../../EmulatorHttp.ts"

const unreadable = (cause: unknown) => new Unreadable({ cause })

const decoder = new TextDecoder()

const whole = (chunks: ReadonlyArray<Buffer>): Buffer => (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))

const receive = (incoming: IncomingMessage): Deferred.Deferred<string, Unreadable> => {
  const received = Deferred.makeUnsafe<string, Unreadable>()
  const chunks: Array<Buffer> = []
  const fail = (cause?: unknown) => {
    if (!incoming.complete) Deferred.doneUnsafe(received, Exit.fail(unreadable(cause)))
  }
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => Deferred.doneUnsafe(received, Exit.succeed(decoder.decode(whole(chunks)))))
  incoming.on("error", fail)
  incoming.on("close", fail)
  return received
}

// The collector comes late to what stands outside the heap: until then, tens of megabytes would pile up.
const release = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The body of a request to a port, which flows as it is read. A caller that waits to be asked for it is asked then. */
export class IncomingBody implements Body {
  readonly release = release
  readonly #incoming: IncomingMessage
  readonly #ask: () => void
  #text: Deferred.Deferred<string, Unreadable> | undefined

  constructor(incoming: IncomingMessage, ask: () => void) {
    this.#incoming = incoming
    this.#ask = ask
  }

  get text(): Effect.Effect<string, Unreadable> {
    return Effect.suspend(() => {
      if (this.#text === undefined) {
        this.#ask()
        this.#text = receive(this.#incoming)
      }
      return Deferred.await(this.#text)
    })
  }

  get bytes(): Stream.Stream<Uint8Array, Unreadable> {
    return Stream.suspend(() => {
      this.#ask()
      return Stream.fromAsyncIterable(this.#incoming.iterator({ destroyOnReturn: false }), unreadable)
    })
  }
}
