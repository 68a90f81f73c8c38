/** Random pipelines of the operators of streams. */
import * as Deliveries from "@colloquy/core/inbox/Deliveries"
import type { Delivery } from "@colloquy/core/inbox/Deliveries"
import * as Messages from "@colloquy/core/endpoints/Messages"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Update from "@colloquy/core/model/Update"
import * as Updates from "@colloquy/core/inbox/Updates"
import * as Emulator from "@colloquy/testing/emulator/Emulator"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Simulation } from "../../simulation.ts"
import type { Host, Program } from "../program.ts"
import { auditPipelines } from "./audit.ts"
import { isKept, type PipelinesPlan, planPipelines, type Sink, smallerPipelines, type Stage, textOf } from "./plan.ts"

/** What an element of a pipeline is: the texts of the messages of a delivery. */
interface Value {
  readonly texts: ReadonlyArray<string>
  readonly chat_id: ChatId
}

type Pipeline<R> = Stream.Stream<Delivery<Value>, unknown, R>

class Broken extends Schema.TaggedError<Broken>()("Broken", {}) {}

/** Works on the texts of a value, and records it. */
const work = ({ history, process, strikes, world }: Host, place: string, millis: number, { texts }: Value) =>
  Effect.gen(function* () {
    const note = (what: string) => {
      for (const subject of texts) history.add({ type: "noted", process: process.name, what, subject, value: place })
    }
    note("began")
    yield* Effect.sleep(world.dice.int(millis + 1))
    if (strikes("handler", process, place)) return yield* new Broken()
    note("done")
  })

const grouped = <R>(self: Pipeline<R>, size: number, millis: number): Pipeline<R> =>
  self.pipe(
    Deliveries.groupedWithin(size, millis),
    Deliveries.map((values) => ({ texts: values.flatMap(({ texts }) => texts), chat_id: values[0].chat_id }))
  )

const apply = <R>(host: Host, self: Pipeline<R>, stage: Stage, place: string): Pipeline<R> => {
  const { retry } = host.runOptions
  switch (stage.type) {
    case "map":
      return Deliveries.map(self, (value) => ({ ...value }))
    case "filter":
      return Deliveries.filter(self, ({ texts }) => texts.some((text) => isKept(stage, text)))
    case "mapEffect":
      return Deliveries.mapEffect(self, (value) => Effect.as(work(host, place, stage.millis, value), value), {
        concurrency: stage.concurrency,
        retry
      })
    case "buffer":
      return Stream.buffer(self, { capacity: stage.capacity })
    case "rechunk":
      return Stream.rechunk(self, 1)
    case "throttle":
      return Stream.throttle(Stream.rechunk(self, 1), {
        cost: ({ length }) => length,
        units: stage.units,
        duration: "1 second"
      })
    case "tap":
      return Stream.tap(self, () => Effect.sleep(host.world.dice.int(stage.millis + 1)))
    case "tee":
      return Deliveries.tee(self, (branch) =>
        grouped(branch, stage.size, stage.millis).pipe(
          Deliveries.runForEach((value) => work(host, place, stage.millis, value), { retry })
        )
      )
    case "grouped":
      return grouped(self, stage.size, stage.millis)
  }
}

const finish = <R>(host: Host, self: Pipeline<R>, sink: Sink) => {
  const { retry } = host.runOptions
  const handled = (place: string, millis: number) => (value: Value) => work(host, place, millis, value)
  switch (sink.type) {
    case "runForEach": {
      const handle = (value: Value) => {
        const worked = handled("sink", sink.millis)(value)
        const { chat_id, texts } = value
        return sink.sends ? Effect.andThen(worked, Messages.send({ chat_id, text: `did ${texts.join(" ")}` })) : worked
      }
      return Deliveries.runForEach(self, handle, { concurrency: sink.concurrency, retry })
    }
    case "runDrain":
      return Deliveries.runDrain(self)
    case "byHand": {
      const settle = (delivery: Delivery<Value>) =>
        Effect.matchCauseEffect(Deliveries.provide(handled("sink", sink.millis)(delivery.value), delivery), {
          onSuccess: () => delivery.ack,
          onFailure: () => delivery.retry({ after: 1000 })
        })
      return Stream.runDrain(Stream.mapEffect(self, settle, { concurrency: sink.concurrency }))
    }
    case "broadcast":
      return Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = yield* Deliveries.broadcast(self, { n: 2 })
          const first = Deliveries.runForEach(one, handled("sink", sink.millis), { retry })
          const second = Deliveries.runForEach(other, handled("other", sink.millis), { retry })
          yield* Effect.all([first, second], { concurrency: "unbounded", discard: true })
        })
      )
  }
}

const bot = (plan: PipelinesPlan, host: Host) => {
  const { closeAfter, perChat, sink, stages } = plan
  const { maxCrashes, maxInMemory } = host.runOptions
  const source = Updates.deliveries({ perChat, maxCrashes, maxInMemory }).pipe(
    Deliveries.on("message_created"),
    Deliveries.map((update) => ({
      texts: [Update.textOf(update) ?? ""],
      chat_id: (Update.chatOf(update) ?? 0) as ChatId
    }))
  )
  const pipeline = stages.reduce<Pipeline<Effect.Services<ReturnType<typeof Messages.send>> | Updates.Updates>>(
    (self, stage, index) => apply(host, self, stage, `stage ${index}`),
    source
  )
  if (closeAfter === undefined) return finish(host, pipeline, sink)
  // Closing it in the middle and running it again loses nothing.
  const closing = Effect.suspend(() =>
    host.world.isFaulty ? Effect.sleep(closeAfter) : (Effect.never as Effect.Effect<void>)
  )
  // An acknowledgement fails if the store is unavailable when the stream closes.
  const isTemporary = (error: unknown) => Predicate.hasProperty(error, "isRetryable") && error.isRetryable === true
  return Effect.forever(
    Effect.catchIf(finish(host, Stream.interruptWhen(pipeline, closing), sink), isTemporary, () => Effect.void)
  )
}

const people = ({ chats, wait }: PipelinesPlan, { history, world }: Simulation) =>
  Effect.forEach(
    chats,
    Effect.fnUntraced(function* (count, chat) {
      const person = yield* Emulator.user(`Person ${chat}`)
      const { chat_id } = yield* person.start()
      for (let index = 0; index < count; index++) {
        yield* Effect.sleep(world.dice.int(wait + 1))
        history.add({ type: "said", chat: String(chat_id), subject: textOf(chat, index) })
        yield* person.send(chat_id, textOf(chat, index))
      }
    }),
    { concurrency: "unbounded", discard: true }
  )

export const pipelines: Program<PipelinesPlan> = {
  plan: planPipelines,
  smaller: smallerPipelines,
  bot,
  people,
  audit: auditPipelines
}
