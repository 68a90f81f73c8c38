import type { UploadType } from "@colloquy/core/Upload"
import type { Greet, Listening } from "../http/nodeServer.ts"
import type { ListenerKind } from "../../EmulatorHttp.ts"

const unspecified = new Set(["0.0.0.0", "::"])

const nameOf = ({ address, family }: Listening): string => {
  const name = unspecified.has(address) ? (family === "IPv6" ? "::1" : "127.0.0.1") : address
  // An address says its zone in no URL.
  return family === "IPv6" ? `[${name.replace(/%.*/, "")}]` : name
}

const originOf = (name: string, { port }: Listening): string => new URL(`http://${name}:${port}`).origin

/** Where a server can be reached from the machine it runs on. */
export const addressOf = (listening: Listening): string => originOf(nameOf(listening), listening)

export type UploadHosts = Readonly<Record<UploadType, Listening>>

/** The addresses of the upload hosts, under a name of the machine. */
export const addressesOf = (hosts: UploadHosts, name = nameOf(hosts.image)): Readonly<Record<UploadType, string>> => ({
  image: originOf(name, hosts.image),
  video: originOf(name, hosts.video),
  audio: originOf(name, hosts.audio),
  file: originOf(name, hosts.file)
})

const namedIn = (host: string | undefined): string | undefined => {
  const address = `http://${host}`
  return host !== undefined && URL.canParse(address) ? new URL(address).hostname : undefined
}

/** Tells a caller the upload hosts: where they listen on every address, under the name that it calls this one by. */
export const greeting = (kind: ListenerKind, hosts: UploadHosts): Greet => {
  const listener = { kind, uploads: addressesOf(hosts) }
  if (!unspecified.has(hosts.image.address)) return () => listener
  let last = { host: undefined as string | undefined, listener }
  return (host) => {
    if (host !== last.host) last = { host, listener: { kind, uploads: addressesOf(hosts, namedIn(host)) } }
    return last.listener
  }
}
