import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import { cases } from "@colloquy/core/model/Update"
import * as Schema from "effect/Schema"
import { closestMatch } from "leven"

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

const updateTypes = Object.keys(cases)

/** Headers that the server sets itself. */
const framing = new Set(["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"])

/** The name that was probably meant: at most two letters differ. */
const nearest = (given: string, names: ReadonlyArray<string>): string | undefined =>
  closestMatch(given, names, { maxDistance: 2 })

const noSuch = (what: string, given: string, names: ReadonlyArray<string>): string => {
  const meant = nearest(given, names)
  const instead = meant === undefined ? `it is one of ${names.join(", ")}` : `did you mean ${meant}?`
  return `there is no ${what} ${JSON.stringify(given)}: ${instead}`
}

export const problemOfMethod = (method: string): string | undefined =>
  methods.includes(method.toUpperCase()) ? undefined : noSuch("method", method, methods)

/** Unknown types of updates are accepted, except probable misspellings of known types. */
export const problemOfUpdateType = (type: string): string | undefined =>
  updateTypes.includes(type) || nearest(type, updateTypes) === undefined
    ? undefined
    : noSuch("update", type, updateTypes)

const endpoints = Endpoints.all.map(({ endpoint }) => endpoint)

const isEndpoint = (name: string): name is Endpoints.Name => endpoints.includes(name)

const problemOfEndpoint = (name: string): string | undefined =>
  isEndpoint(name) ? undefined : noSuch("endpoint", name, endpoints)

export const EndpointName = Schema.String.check(Schema.makeFilter(problemOfEndpoint, undefined, true)).pipe(
  Schema.refine(isEndpoint)
)

export const problemOfPath = (path: string): string | undefined => {
  if (!/^[/*]/.test(path)) return "a path begins with `/`, as `/messages`, or with `*`"
  if (/[?#]/.test(path)) return "a path is without its query: use `chat_id` for what is about a chat"
  return /^\/_emulator(\/|$)/.test(path) ? "faults do not strike the calls under /_emulator" : undefined
}

export const problemOfHeaders = (headers: Readonly<Record<string, string>>): string | undefined => {
  const seen = new Set<string>()
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return `${JSON.stringify(`${given}: ${value}`)} is not a valid header`
    }
    if (framing.has(name)) return `${given} is set by the server: use \`truncate\` or \`reset\` to break an answer`
    if (seen.has(name)) return `${given} is given twice: the case of a header name does not matter`
    seen.add(name)
  }
  return undefined
}

const matchers = ["method", "path", "endpoint"] as const
const answers = ["status", "code", "message", "body"] as const
const ofResponse = [...answers, "headers", "delay", "reset", "truncate"] as const
const forms = ["forward_body", "empty_text", "quote_markup"] as const
const actions = [...ofResponse, ...forms] as const
const counts = ["nth", "every", "probability"] as const

type Field = (typeof matchers | typeof actions | typeof counts)[number] | "seed" | "update_type" | "delivery"

type Given = { readonly [K in Field]?: unknown }

const present = (rule: Given, fields: ReadonlyArray<Field>) => fields.filter((field) => rule[field] !== undefined)

const problemOfDelivery = (rule: Given): string | undefined => {
  const [other] = present(rule, [...matchers, ...actions])
  return other === undefined ? undefined : `\`${other}\` is for requests and \`delivery\` for deliveries: use two rules`
}

/** A rule for updates that are changed, and not dropped or duplicated. */
const problemOfUpdateRule = (rule: Given): string | undefined => {
  const [other] = present(rule, [...matchers, ...ofResponse])
  if (present(rule, forms).length === 0) {
    return "`update_type` is for deliveries: it needs `delivery`, `forward_body`, `empty_text` or `quote_markup`"
  }
  return other === undefined
    ? undefined
    : `\`${other}\` is for requests and \`update_type\` for deliveries: use two rules`
}

/** Whether the method differs from the method of the endpoint; HEAD counts as GET. */
const isOtherMethod = ({ endpoint, method }: Given): boolean => {
  const found = Endpoints.all.find((each) => each.endpoint === endpoint)
  if (found === undefined || method === undefined) return false
  const given = String(method).toUpperCase()
  return found.declaration.method !== (given === "HEAD" ? "GET" : given)
}

const problemOfRequest = (rule: Given): string | undefined => {
  if (present(rule, actions).length === 0) return `a rule needs one of ${actions.join(", ")}, delivery`
  if (rule.update_type !== undefined) return problemOfUpdateRule(rule)
  if (isOtherMethod(rule)) return `${String(rule.endpoint)} has another method: leave \`method\` out`
  if (rule.body !== undefined && present(rule, ["code", "message"]).length > 0) {
    return "`body` is the whole body already"
  }
  if (rule.reset === "before" && rule.truncate !== undefined) {
    return '`truncate` needs an answer: use `"reset":"after"`'
  }
  const isAnswered = rule.reset === undefined || rule.truncate !== undefined
  return isAnswered || present(rule, [...answers, "headers"]).length === 0
    ? undefined
    : "a connection that breaks has no answer"
}

/** Returns why the fields of a rule contradict each other, or `undefined`. */
export const problemOfRule = (rule: Given): string | undefined => {
  if (present(rule, counts).length > 1) return `only one of ${counts.join(", ")}`
  if (rule.seed !== undefined && rule.probability === undefined) return "`seed` needs `probability`"
  return rule.delivery === undefined ? problemOfRequest(rule) : problemOfDelivery(rule)
}
