import * as Json from "@colloquy/core/base/Json"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import * as declarations from "../control/declarations.ts"
import { rule } from "./fields.ts"
import { call, counted, countOf, defaultCount, type Emulated, make, ofCall, ofList, type Tool } from "./tool.ts"

/** Returns the latest requests from a position on, without reading the others. */
const readRequests = Effect.fnUntraced(function* (
  given: { readonly from?: number; readonly count?: number },
  emulated: Emulated
) {
  const { count = defaultCount, from = 0 } = given
  const end = yield* call(declarations.listRequests, { count: 0 }, emulated)
  const { next } = Json.parse(end.body) as { readonly next: number }
  const first = Math.max(from, next - count)
  const answer = yield* call(declarations.listRequests, { from: first, count: next - first }, emulated)
  const { requests } = Json.parse(answer.body) as { readonly requests: unknown }
  return { ...answer, body: Json.stringify({ requests, next, skipped: Math.max(0, first - from) }) }
})

/** Tools that read the platform, and change its time, its faults and its state. */
export const platformTools: ReadonlyArray<Tool> = [
  make("get_connection", "How a bot connects", {
    description:
      "Returns the base URL of the API, the token of each bot, and the address of the page that shows the chats to a developer.",
    endpoints: [declarations.listBots],
    schema: {},
    fields: {},
    run: (_, emulated) =>
      Effect.map(call(declarations.listBots, {}, emulated), (answer) => {
        const { bots } = Json.parse(answer.body) as { readonly bots: unknown }
        const { uploads, url } = emulated
        return { ...answer, body: Json.stringify({ url, page: `${url}/_emulator/ui`, uploads, bots }) }
      })
  }),
  ofCall("read_state", "Read the whole state", declarations.getState, {
    description: "Returns the people, the bots, the chats with their members and rights, and the clock."
  }),
  make("read_requests", "Read the requests of bots", {
    description:
      "Returns the latest requests of bots with their responses, the oldest first: method, path, body, status, answer, duration and the limits they counted towards. Shows why a bot does not work. To read only what is new, pass next of the previous call as from.",
    endpoints: [declarations.listRequests],
    schema: { from: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))), ...counted },
    fields: { from: "Position of the first request. Default: 0", count: countOf },
    run: readRequests
  }),
  ofList("read_updates", "Read the updates of a bot", declarations.listUpdates, "updates", {
    description: "Returns the updates of a bot of the last 24 hours, received or not, the oldest first."
  }),
  ofList("read_deliveries", "Read the deliveries to webhooks", declarations.listDeliveries, "deliveries", {
    description:
      "Returns the attempts to deliver updates to the webhooks of bots with their status or failure, and in waiting the next attempts with their times."
  }),
  ofCall("deliver_now", "Deliver at once", declarations.deliverNow, {
    description: "Starts the next attempt of a delivery that waits, without moving the clock.",
    fields: { delivery_id: "Id of the delivery, from waiting of read_deliveries" }
  }),
  ofCall("send_update", "Send an update", declarations.deliverUpdate, {
    description: "Sends any update to a bot, for example one of a type that does not exist yet.",
    fields: {
      update: [
        Schema.Record(Schema.String, Schema.Unknown),
        'The update, such as {"update_type":"from_the_future","timestamp":1}'
      ]
    }
  }),
  ofCall("get_clock", "Read the clock", declarations.getClock, {
    description:
      "Returns the time in Unix milliseconds, whether it runs, and what is due next: an attempt to deliver, the end of the processing of an upload, or the end of a failing subscription."
  }),
  ofCall("move_clock", "Move, stop or start the clock", declarations.advanceClock, {
    description:
      "Moves the time of the platform forward, or stops or starts its clock. Everything due until the new time happens in order. The clock of the bot does not move: only deliveries, uploads, long polls and limits of the platform follow this clock. One argument must be given.",
    fields: {
      advance_ms: "How far to move, in milliseconds",
      to: "Moves to the time of what is due next",
      running: "true starts the clock, false stops it"
    }
  }),
  ofCall("set_faults", "Arm faults", declarations.setFaults, {
    description:
      'Replaces all rules of the faults and sets their counters to 0. A rule selects requests of bots or deliveries of updates (default: all) and defines what goes wrong, such as [{"endpoint":"Messages.send","nth":1,"status":503}]. An empty list removes all rules.',
    destroys: true,
    fields: {
      rules: [Schema.Array(Rule), "The rules. If several apply to one request, the first is the outermost", rule]
    }
  }),
  ofCall("list_faults", "List faults", declarations.listFaults, {
    description:
      "Returns the rules of the faults, how many requests or deliveries each matched, and how often it was applied."
  }),
  ofCall("get_limits", "Read the limits", declarations.getLimits, {
    description: "Returns the rate limits of the platform, and how much of each the current requests use."
  }),
  ofCall("revoke_token", "Revoke a token", declarations.revokeToken, {
    description: "Calls with the token of the bot are refused until a reset.",
    destroys: true,
    fields: { as: "revoked is answered with 401, deprecated with 403. Default: revoked" }
  }),
  ofCall("reset", "Reset the emulator", declarations.reset, {
    description: "Removes all people, chats, messages, updates, subscriptions and faults. The tokens stay.",
    destroys: true
  }),
  ofCall("save_seed", "Save the state as a seed", declarations.getSeed, {
    description: "Returns the people, chats and messages as a seed, which load_seed restores."
  }),
  ofCall("load_seed", "Load a seed", declarations.seed, {
    description: "Creates the people, chats and messages of a seed, in addition to those that exist.",
    fields: {
      users: "People, with the fields of create_person",
      media: "Files that messages contain, by their tokens",
      chats: "Chats, with the fields of create_chat, and their messages. A message without user_id is sent by the bot",
      silent: "Whether bots receive no updates of the seed. Default: false",
      unchecked: "Whether messages of people who may not write are created. Default: false"
    }
  })
]
