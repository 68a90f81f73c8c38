import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Listens on a free port of the loopback interface until the scope closes, and returns the port. */
export const listen = (server: Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
