import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

interface Ran {
  readonly code: unknown
  readonly stderr: string
  readonly lines: ReadonlyArray<string>
  /** What is said and done, without what the program prints, whose lines come when they come. */
  readonly conversation: ReadonlyArray<string>
  /** What the program prints, without its log. */
  readonly printed: ReadonlyArray<string>
}

const example = (name: string) =>
  new Promise<Ran>((resolve) => {
    const args = ["--conditions=source", pathOf("../src/example.ts"), name]
    execFile(process.execPath, args, (error, stdout, stderr) => {
      const lines = stdout.split("\n").flatMap((line) => line.trim() || [])
      const printed = lines.flatMap((line) => /^program {2}(.*)$/.exec(line)?.[1] ?? [])
      const conversation = lines.filter((line) => !line.startsWith("program"))
      resolve({ code: error === null ? 0 : error.code, stderr, lines, conversation, printed })
    })
  })

const succeeding = async (name: string): Promise<Ran> => {
  const ran = await example(name)
  assert.strictEqual(ran.code, 0, `${ran.stderr}\n${ran.lines.join("\n")}`)
  return ran
}

describe("npm run example", { timeout: 120_000, concurrent: false }, () => {
  it("lists the names where there is none such, and knows each example", async () => {
    const { code, stderr } = await example("nothing")
    assert.strictEqual(code, 2)
    const names = readdirSync(pathOf("../src"))
      .filter((file) => file.endsWith(".ts") && file !== "example.ts" && file !== "start.ts")
      .map((file) => file.replace(/\.ts$/, ""))
    assert.strictEqual(stderr, `npm run example -- NAME, where NAME is one of ${names.join(", ")}\n`)
  })

  it("send: says of each failure what it is", async () => {
    const { conversation, printed } = await succeeding("send")
    assert.deepStrictEqual(conversation, ["Ann  (opens the bot)", "bot  Good morning, Ann", "Ann  (stops the bot)"])
    assert.match(printed[0], /^Sent as mid\./)
    assert.deepStrictEqual(printed.slice(1), [
      "Not sent: invalid request, nothing was sent: `text` must be at most 4000 characters",
      "The bot may not write there: the person stopped it, or it was removed.",
      "There is no such chat, or the bot never was in it."
    ])
  })

  it("echo: says back what it is told, and stops when it is asked to", async () => {
    const { conversation } = await succeeding("echo")
    assert.deepStrictEqual(conversation.slice(0, 5), [
      "Ann  (opens the bot)",
      "bot  Hello, Ann! Say something, and I say it back.",
      "Ann  good morning",
      "bot  good morning  [1: Louder]",
      "Ann  (presses Louder)"
    ])
    assert.sameMembers(conversation.slice(5, 7), ["bot edits  GOOD MORNING!", "bot shows  As you like, Ann"])
    assert.deepStrictEqual(conversation.slice(7), ["you  (stop the program)"])
  })

  it("webhook: answers, is ready, and stops gracefully", async () => {
    const { conversation, printed } = await succeeding("webhook")
    assert.include(printed, "(is ready)")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "bot  Hello, Ann! /help tells what I can do.",
      "Ann  /help",
      "bot  I count the letters of what you say.",
      "Ann  Good morning",
      "bot  11 letters",
      "you  (stop the program)"
    ])
  })

  it("upload: shows its bar, and sends the video when it is processed", async () => {
    const { conversation, printed } = await succeeding("upload")
    assert.deepStrictEqual(conversation, ["Ann  (opens the bot)", "bot  Tonight"])
    assert.match(printed[0], /^film\.mp4 \[-+] {3}0% 0\.0 MB\/30\.0 MB/)
    const end = printed.findIndex((line) => line.startsWith("film.mp4 [########################] 100% 30.0 MB/30.0 MB"))
    const uploaded = printed.indexOf("Uploaded. The platform processes it.")
    assert.isAtLeast(end, 0)
    assert.isAtLeast(uploaded, 0)
    assert.match(printed.at(-1)!, /^Sent as mid\./)
  })

  it("comments: answers questions and thanks, and lets the rest be", async () => {
    const { conversation } = await succeeding("comments")
    assert.deepStrictEqual(conversation, [
      "Editor  The library is open again.",
      "Ann  First!",
      "Ann  On Sundays too?",
      "bot  Good question, Ann. The editors answer here until tonight.",
      "Ann  Thank you!",
      "bot  You are welcome, Ann.",
      "you  (stop the program)"
    ])
  })

  it("broadcast: reaches who is known, shows its bar, and forgets who refuses", async () => {
    const { conversation, printed } = await succeeding("broadcast")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "Ben  (opens the bot)",
      "Cleo  (opens the bot)",
      "Cleo  (stops the bot)",
      "bot  The library is open again.",
      "bot  The library is open again."
    ])
    assert.isTrue(printed.some((line) => /^news of May \[#+] 100% 3\/3 /.test(line)))
    assert.include(printed, "2 got it, 1 refused and are forgotten, 0 failed.")
  })

  it("reminder: reminds although it was restarted meanwhile", async () => {
    const { conversation } = await succeeding("reminder")
    assert.deepStrictEqual(conversation, [
      "Ann  /remind",
      "bot  <text> is missing. Usage: /remind <text>",
      "Ann  /remind feed the cat",
      "bot  In 3s, then.",
      "you  (stop the program)",
      "bot  You wanted to be reminded: feed the cat",
      "you  (stop the program)"
    ])
  })

  it("several: goes on when one of them stops", async ({ skip }) => {
    const ran = await example("several")
    if (ran.code === 3 && process.env["CI"] !== "true") {
      console.warn(ran.stderr.trim())
      skip(ran.stderr.trim())
    }
    assert.strictEqual(ran.code, 0, `${ran.stderr}\n${ran.lines.join("\n")}`)
    const [morning, first, stop, still, second, ...rest] = ran.conversation
    assert.deepStrictEqual(
      [morning, stop, still, ...rest],
      ["Ann  good morning", "you  (stop the program)", "Ann  are you still there?", "you  (stop the program)"]
    )
    assert.match(first, /^bot {2}Process \d+ is at your service$/)
    assert.match(second, /^bot {2}Process \d+ is at your service$/)
  })
})
