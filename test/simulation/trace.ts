/** The history of a run as a table, for people. */
import { type Event, toText } from "./history.ts"

const limit = 220

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : toText(value)
  return text.length > limit ? `${text.slice(0, limit)}…` : text
}

const describe = (event: Event): readonly [who: string, what: string] => {
  switch (event.type) {
    case "process":
      return [event.process, `${event.change} ${event.detail ?? ""}`]
    case "said":
      return ["people", `say ${event.subject} in ${event.chat}`]
    case "sent":
      return [event.process, `-> ${event.request} ${event.method} ${event.path} ${short(event.body)}`]
    case "executed":
      return ["platform", `   ${event.request} of ${event.process}: ${event.status} ${short(event.answer)}`]
    case "answered":
      return [event.process, `<- ${event.request} ${event.status ?? "lost"}`]
    case "store":
      return [event.process, `${event.operation} ${short(event.request)} => ${short(event.result)}`]
    case "failedOver":
      return ["store", `loses everything since ${event.since / 1000}`]
    case "fault":
      return [event.process, `FAULT ${event.kind} ${event.detail ?? ""}`]
    case "began":
      return [event.process, `{ ${event.subject} in ${event.chat} (run ${event.run})`]
    case "ended":
      return [event.process, `} ${event.subject} ${event.outcome} (run ${event.run})`]
    case "noted":
      return [event.process, `${event.what} ${event.subject} ${event.value}`]
    case "log":
      return [event.process, `${event.level}: ${event.message}`]
  }
}

/** One line for each event: the virtual time in seconds, who, and what. */
export const traceOf = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.map((event) => {
    const [who, what] = describe(event)
    return `${(event.at / 1000).toFixed(3).padStart(9)}  ${who.padEnd(10)} ${what}`
  })
