/**
 * Plays the pizza bot of examples/src and the same bot on grammY in processes of their own, and prints what a person sees at a
 * restart, a kill, a deploy and a silence: `node --conditions=source benchmarks/src/conversations/scenes.ts`.
 */
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import * as bots from "./bots.ts"

/** Waits until the bot says nothing more: what it says to one update comes in several requests. */
const settle = async (scene: bots.Scene): Promise<void> => {
  let before = ""
  for (;;) {
    const now = JSON.stringify(await scene.said())
    if (now === before) return
    before = now
    await sleep(2000)
  }
}

/** Does what the last message of the bot asks for, until the order is accepted or nothing happens. */
const finish = async (scene: bots.Scene, address = "Long Lane 7"): Promise<string> => {
  for (let action = 0; action < 12; action++) {
    const said = await scene.said()
    const last = said.at(-1)!
    if (last.text.startsWith("Thank you")) return "the order is accepted"
    if (last.text.startsWith("Send /order") && action > 0) return "the conversation is forgotten"
    const before = JSON.stringify(said)
    const label = ["Done", "Yes", "Small"].find((label) => last.buttons.includes(label))
    await (label === undefined ? scene.write(address) : scene.press(label))
    const isNew = async () => JSON.stringify(await scene.said()) !== before
    if (!(await bots.until(isNew))) return `no answer for 20 seconds after "${last.text}"`
    await settle(scene)
  }
  return `the order is not accepted: ${JSON.stringify(await scene.said())}`
}

const isLast = (scene: bots.Scene, text: string) => async () =>
  (await scene.said()).at(-1)?.text.includes(text) === true

const reach = async (scene: bots.Scene, text: string): Promise<void> => {
  if (!(await bots.until(isLast(scene, text), 60))) {
    throw new Error(`The bot does not say "${text}", but ${JSON.stringify(await scene.said())}`)
  }
  await settle(scene)
}

const begin = async (scene: bots.Scene): Promise<void> => {
  await scene.write("/order")
  await reach(scene, "Which size?")
}

const toAddress = async (scene: bots.Scene): Promise<void> => {
  await begin(scene)
  await scene.press("Small")
  await reach(scene, "Which toppings?")
  await scene.press("Done")
  await reach(scene, "Where to?")
}

const count = async (scene: bots.Scene, text: string): Promise<number> =>
  (await scene.said()).filter((said) => said.text.includes(text)).length

type Who = "Colloquy" | "grammY"

interface Play {
  /** Changes of the code before it is started. */
  readonly edits?: Readonly<Record<Who, bots.Edits>>
  readonly run: (scene: bots.Scene, who: Who) => Promise<string>
}

const deployed = (edits: Readonly<Record<Who, bots.Edits>>): Play => ({
  run: async (scene, who) => {
    await toAddress(scene)
    await scene.kill()
    scene.restart(edits[who])
    const end = await finish(scene)
    if (!end.includes("accepted")) await scene.write("/order")
    await settle(scene)
    return `${end}; said: ${(await scene.said()).map(({ text }) => JSON.stringify(text.split("\n")[0])).join(", ")}`
  }
})

const plays: Readonly<Record<string, Play>> = {
  "a restart between two answers": {
    run: async (scene) => {
      await toAddress(scene)
      await scene.kill()
      scene.restart()
      return finish(scene)
    }
  },
  "a kill after a question is sent, before the response": {
    run: async (scene) => {
      await begin(scene)
      const killed = scene.killAfter("Which toppings?")
      await scene.press("Small")
      await killed
      scene.restart()
      await sleep(5000)
      await settle(scene)
      const end = await finish(scene)
      return `${end}; the question stands in the chat ${await count(scene, "Which toppings?")} times`
    }
  },
  "a deploy with a new first question": deployed({
    Colloquy: [["const size = yield*", 'yield* talk.ask("name", { say: "Your name?" })\n      const size = yield*']],
    grammY: [
      [
        "  for (;;) {\n    const sizes",
        '  await context.reply("Your name?")\n  await conversation.waitFor("message:text")\n  for (;;) {\n    const sizes'
      ]
    ]
  }),
  "a deploy with a new first message": deployed({
    Colloquy: [["const size = yield*", 'yield* talk.say("Welcome.")\n      const size = yield*']],
    grammY: [["  for (;;) {\n    const sizes", '  await context.reply("Welcome.")\n  for (;;) {\n    const sizes']]
  }),
  "a deploy with a new first message and a new version": deployed({
    Colloquy: [
      ["const size = yield*", 'yield* talk.say("Welcome.")\n      const size = yield*'],
      ["back: true", 'back: true, version: 2, onVersion: "restart"']
    ],
    grammY: [
      ["  for (;;) {\n    const sizes", '  await context.reply("Welcome.")\n  for (;;) {\n    const sizes'],
      ['storage: { type: "key",', 'storage: { type: "key", version: 2,']
    ]
  }),
  "a deploy without the question for toppings": deployed({
    Colloquy: [
      ['const chosen = yield* talk.choose("toppings", {', "const chosen: Array<keyof typeof toppings> = []\n void ({"]
    ],
    grammY: [
      ['await outside.reply("Which toppings? At most three.", { reply_markup: menu })', ""],
      ["await conversation.waitForCallbackQuery(/^toppings\\//, timeout)", ""]
    ]
  }),
  "a silence (10 minutes, shortened to 5 seconds)": {
    edits: {
      Colloquy: [['timeout: "10 minutes"', 'timeout: "5 seconds"']],
      grammY: [["10 * 60_000", "5000"]]
    },
    run: async (scene) => {
      await begin(scene)
      const before = (await scene.said()).length
      const hasSpoken = await bots.until(async () => (await scene.said()).length > before, 30)
      const last = (await scene.said()).at(-1)!
      const buttons = (await scene.said()).flatMap(({ buttons }) => buttons).length
      const spoken = hasSpoken ? `the bot says "${last.text}"` : "the bot says nothing for 30 seconds"
      await scene.write("Hello?")
      await bots.until(async () => (await scene.said()).length > before + (hasSpoken ? 1 : 0), 10)
      return `${spoken}, ${buttons} buttons stay; "Hello?" is answered by "${(await scene.said()).at(-1)!.text}"`
    }
  }
}

const linesOf = (path: string): number =>
  readFileSync(new URL(path, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "").length

console.log(`lines: Colloquy ${linesOf("../../../examples/src/pizza.ts")}, grammY ${linesOf("pizza.ts")}`)

const chosen = process.argv[2] ?? ""
for (const [name, { edits, run }] of Object.entries(plays).filter(([name]) => name.includes(chosen))) {
  console.log(name)
  for (const [who, make] of [
    ["Colloquy", bots.ours],
    ["grammY", bots.grammy]
  ] as const) {
    const scene = await make(edits?.[who] ?? [])
    try {
      console.log(`  ${who}: ${await run(scene, who)}`)
    } catch (error) {
      console.log(`  ${who}: failed: ${String(error)}`)
    } finally {
      await scene.close()
    }
  }
}
process.exit()
