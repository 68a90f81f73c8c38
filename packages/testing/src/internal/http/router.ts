import type * as Endpoint from "@colloquy/core/Endpoint"
import { decodePercent } from "./percent.ts"

interface Node {
  readonly fixed: Map<string, Node>
  parameter: { readonly name: string; readonly node: Node } | undefined
  readonly methods: Map<string, Endpoint.Any>
}

export type Match =
  | { readonly _tag: "Found"; readonly endpoint: Endpoint.Any; readonly params: Readonly<Record<string, string>> }
  | { readonly _tag: "OtherMethods"; readonly methods: ReadonlyArray<string> }
  | { readonly _tag: "NoSuchPath" }

const makeNode = (): Node => ({ fixed: new Map(), parameter: undefined, methods: new Map() })

/** The request's key for a `{chatId}` of the path is `chat_id`. */
const keyOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const child = (node: Node, segment: string): Node => {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1]
  if (name !== undefined) return (node.parameter ??= { name: keyOf(name), node: makeNode() }).node
  const existing = node.fixed.get(segment)
  if (existing !== undefined) return existing
  const made = makeNode()
  node.fixed.set(segment, made)
  return made
}

/** What may be asked at a path. HEAD is answered wherever GET is, OPTIONS everywhere. */
export const allowing = (methods: Iterable<string>): ReadonlyArray<string> =>
  [...methods].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).concat("OPTIONS")

/** Finds the endpoint of a request by the methods and paths of the declarations. */
export const make = (endpoints: ReadonlyArray<Endpoint.Any>) => {
  const root = makeNode()
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.declaration
    const node = path.slice(1).split("/").reduce(child, root)
    const other = node.methods.get(method)
    if (other !== undefined) throw new Error(`${method} ${path} is both ${other.endpoint} and ${endpoint.endpoint}`)
    node.methods.set(method, endpoint)
  }

  return (method: string, path: string): Match => {
    const params: Record<string, string> = {}
    let node = root
    for (const segment of path.slice(1).split("/")) {
      const value = segment.includes("%") ? decodePercent(segment) : segment
      const fixed = value === undefined ? undefined : node.fixed.get(value)
      if (fixed !== undefined) {
        node = fixed
        continue
      }
      if (node.parameter === undefined || value === undefined || value === "") return { _tag: "NoSuchPath" }
      params[node.parameter.name] = value
      node = node.parameter.node
    }
    const endpoint = node.methods.get(method === "HEAD" ? "GET" : method)
    if (endpoint !== undefined) return { _tag: "Found", endpoint, params }
    return node.methods.size === 0
      ? { _tag: "NoSuchPath" }
      : { _tag: "OtherMethods", methods: allowing(node.methods.keys()) }
  }
}
