import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

interface Output {
  readonly code: unknown
  readonly stderr: string
  readonly lines: ReadonlyArray<string>
  /** The lines of users and of the bot. Lines of the program are omitted, because their position varies. */
  readonly conversation: ReadonlyArray<string>
  /** The lines that the program prints. */
  readonly printed: ReadonlyArray<string>
}

const runExample = (name: string) =>
  new Promise<Output>((resolve) => {
    const args = ["--conditions=source", pathOf("../src/example.ts"), name]
    execFile(process.execPath, args, (error, stdout, stderr) => {
      // The buttons of a message are in lines of their own.
      const lines = stdout
        .replace(/\n *(?=\[\d+: )/g, "  ")
        .split("\n")
        .flatMap((line) => line.trim() || [])
      const printed = lines.flatMap((line) => /^program {2}(.*)$/.exec(line)?.[1] ?? [])
      const conversation = lines.filter((line) => !line.startsWith("program"))
      resolve({ code: error === null ? 0 : error.code, stderr, lines, conversation, printed })
    })
  })

const runSuccessfully = async (name: string): Promise<Output> => {
  const ran = await runExample(name)
  assert.strictEqual(ran.code, 0, `${ran.stderr}\n${ran.lines.join("\n")}`)
  return ran
}

describe("npm run example", { concurrent: false }, () => {
  it("lists the names of all examples if the name is unknown", async () => {
    const { code, stderr } = await runExample("nothing")
    assert.strictEqual(code, 2)
    const names = readdirSync(pathOf("../src"))
      .filter((file) => file.endsWith(".ts") && file !== "example.ts" && file !== "start.ts")
      .map((file) => file.replace(/\.ts$/, ""))
    assert.strictEqual(stderr, `Usage: npm run example -- NAME, where NAME is one of ${names.join(", ")}\n`)
  })

  it("runs send, which prints the solution of each error", async () => {
    const { conversation, printed } = await runSuccessfully("send")
    assert.deepStrictEqual(conversation, ["Ann  (opens the bot)", "bot  Good morning, Ann", "Ann  (stops the bot)"])
    assert.match(printed[0], /^Sent the message mid\./)
    assert.deepStrictEqual(printed.slice(1), [
      "Not sent: invalid request, nothing was sent: `text` must be at most 4000 characters",
      "Not sent: the user stopped the bot, or the bot was removed from the chat.",
      "Not sent: the chat does not exist, or the bot was never a member of it."
    ])
  })

  it("runs echo, which repeats texts and stops gracefully", async () => {
    const { conversation } = await runSuccessfully("echo")
    assert.deepStrictEqual(conversation.slice(0, 5), [
      "Ann  (opens the bot)",
      "bot  Hello, Ann! Send me a text, and I will repeat it.",
      "Ann  good morning",
      "bot  good morning  [1: Louder]",
      "Ann  (presses Louder)"
    ])
    assert.sameMembers(conversation.slice(5, 7), ["bot edits  GOOD MORNING!", "bot shows  As you like, Ann"])
    assert.deepStrictEqual(conversation.slice(7), ["you  (stop the program)"])
  })

  it("runs webhook, which becomes ready, answers and stops gracefully", async () => {
    const { conversation, printed } = await runSuccessfully("webhook")
    assert.include(printed, "(is ready)")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "bot  Hello, Ann! Send /help to see what I can do.",
      "Ann  /help",
      "bot  I count the letters of your messages.",
      "Ann  Good morning",
      "bot  11 letters",
      "you  (stop the program)"
    ])
  })

  it("runs upload, which shows a progress bar and sends the video after it was processed", async () => {
    const { conversation, printed } = await runSuccessfully("upload")
    assert.deepStrictEqual(conversation, ["Ann  (opens the bot)", "bot  The video of the day", "(video)"])
    assert.match(printed[0], /^video\.mp4 \[-+] {3}0% 0\.0 MB\/30\.0 MB/)
    const end = printed.findIndex((line) =>
      line.startsWith("video.mp4 [########################] 100% 30.0 MB/30.0 MB")
    )
    const uploaded = printed.indexOf("Uploaded. Waiting until the platform has processed the video.")
    assert.isAtLeast(end, 0)
    assert.isAtLeast(uploaded, 0)
    assert.match(printed.at(-1)!, /^Sent the message mid\./)
  })

  it("runs photo, which downloads a photo from the emulator on a port", async () => {
    const { conversation } = await runSuccessfully("photo")
    assert.deepStrictEqual(conversation, [
      "Ann  hello",
      "bot  Send me a photo, and I will measure it.",
      "Ann  (a photo)",
      "bot  640 x 480 px",
      "you  (stop the program)"
    ])
  })

  it("runs languages, which speaks the language that a person has chosen", async () => {
    const { conversation } = await runSuccessfully("languages")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "Ann  hello",
      "bot  Hello, Ann. Send /order or /language.",
      "Ann  /language",
      "bot  The language is English.  [1: ✓ English]  [2: Русский]  [3: Close]",
      "Ann  (presses Русский)",
      "bot edits  Язык — русский.  [1: English]  [2: ✓ Русский]  [3: Закрыть]",
      "Ann  hello",
      "bot  Привет, Ann. Отправьте /order или /language.",
      "you  (stop the program)"
    ])
  })

  it("runs comments, which answers questions and thanks only", async () => {
    const { conversation } = await runSuccessfully("comments")
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

  it("runs broadcast, which shows a progress bar and removes unreachable chats", async () => {
    const { conversation, printed } = await runSuccessfully("broadcast")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "Ben  (opens the bot)",
      "Cleo  (opens the bot)",
      "Cleo  (stops the bot)",
      "bot  The library is open again.",
      "bot  The library is open again."
    ])
    assert.isTrue(printed.some((line) => /^news of May \[#+] 100% 3\/3 /.test(line)))
    assert.include(printed, "Sent: 2, refused and removed: 1, failed: 0.")
  })

  it("runs helpdesk, in which each of two bots answers its own users", async () => {
    const { conversation } = await runSuccessfully("helpdesk")
    assert.deepStrictEqual(conversation.slice(0, 2), ["Staff  (opens the bot)", "Ann  Where is my order?"])
    assert.strictEqual(conversation[2], "bot  Thank you. We will answer soon.")
    assert.match(conversation[3], /^bot {2}Chat -?\d+: Where is my order\?$/)
    assert.deepStrictEqual(conversation.slice(4), [
      "Staff  It arrives today.",
      "bot  It arrives today.",
      "bot  Sent.",
      "you  (stop the program)"
    ])
  })

  it("runs assistant, whose answers grow, which calls a function, and remembers the chat", async () => {
    const { conversation } = await runSuccessfully("assistant")
    const shown = conversation.filter((line) => line.startsWith("bot"))
    assert.match(shown[0]!, /^bot {2}Tea begins.*\[1: Stop\]$/)
    assert.isAbove(shown.filter((line) => line.startsWith("bot edits  Tea begins")).length, 2)
    const text = conversation.join("\n")
    assert.include(text, "for (;;) drink(tea)")
    assert.include(text, "The order is on its way.")
    assert.match(text, /Before, you asked: How do you make tea\? Where is my order 42\?\nyou {2}\(stop the program\)$/)
  })

  it("runs reminder, which sends a reminder after a restart", async () => {
    const { conversation } = await runSuccessfully("reminder")
    assert.deepStrictEqual(conversation, [
      "Ann  /remind",
      "bot  <text> is missing. Usage: /remind <text>",
      "Ann  /remind feed the cat",
      "bot  I will remind you in 3s.",
      "you  (stop the program)",
      "bot  Reminder: feed the cat",
      "you  (stop the program)"
    ])
  })

  it("runs pizza, which is killed while toppings are chosen, and goes on", async () => {
    const { conversation } = await runSuccessfully("pizza")
    const toppings = "Which toppings? At most three.  [1: Extra cheese]  [2: Ham]  [3: Mushrooms]"
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "bot  Send /order to order a pizza.",
      "Ann  /order",
      "bot  Which size?  [1: Small]  [2: Medium]  [3: Large]",
      "Ann  (presses Large)",
      "bot edits  Which size?",
      "✓ Large",
      `bot  ${toppings}  [4: Olives]  [5: Done]  [6: Back]`,
      "Ann  (presses Olives)",
      `bot edits  ${toppings}  [4: ✓ Olives]  [5: Done]  [6: Back]`,
      "you  (kill the program)",
      "Ann  (presses Done)",
      "bot edits  Which toppings? At most three.",
      "✓ Olives",
      "bot  Where to?  [1: Back]",
      "Ann  home",
      "bot  Please try again: it needs a street and a number, such as Long Lane 7.",
      "Ann  Long Lane 7",
      "bot edits  Where to?",
      "bot  A large pizza with olives to Long Lane 7 for 17 euros. Is that right?  [1: Yes]  [2: No]  [3: Back]",
      "Ann  (presses Yes)",
      "bot edits  A large pizza with olives to Long Lane 7 for 17 euros. Is that right?",
      "✓ Yes",
      "bot  Thank you! Your order has the number 1001.",
      "you  (stop the program)"
    ])
  })

  it("runs moderation, which is restarted while it waits for a newcomer", async () => {
    const { conversation } = await runSuccessfully("moderation")
    assert.deepStrictEqual(conversation, [
      "Ann  (joins the chat)",
      "bot  Welcome, Ann! Please press the button within 6s.  [1: I am a person]",
      "Ann  (presses I am a person)",
      "bot edits  Welcome, Ann! Please press the button within 6s.",
      "✓ I am a person",
      "bot  Welcome! Please be kind.",
      "Ben  (joins the chat)",
      "bot  Welcome, Ben! Please press the button within 6s.  [1: I am a person]",
      "you  (stop the program)",
      "bot edits  Welcome, Ben! Please press the button within 6s.",
      "bot  Ben did not press the button in time.",
      "Ann  Buy my tea",
      "Olga  /warn",
      "bot  Ann, this is warning 1 of 3.",
      "you  (stop the program)"
    ])
  })

  it("runs desk, which sends questions to the staff and answers to customers", async () => {
    const { conversation } = await runSuccessfully("desk")
    assert.deepStrictEqual(conversation, [
      "Ann  Where is my order?",
      "bot  (forwards) Where is my order?",
      "bot  Thank you. We will answer soon.",
      "Olga  /waiting",
      "bot  Ann",
      "Olga  It arrives today.",
      "bot  It arrives today.",
      "bot  Sent.",
      "you  (stop the program)"
    ])
  })

  it("runs quiz, which counts the points of two people in a group", async () => {
    const { conversation } = await runSuccessfully("quiz")
    assert.deepStrictEqual(conversation.slice(0, 5), [
      "Ann  /quiz",
      "bot  What is the capital of Australia?  [1: Sydney]  [2: Canberra]  [3: Perth]",
      "Ann  (Ann presses Canberra)",
      "bot edits  What is the capital of Australia?",
      "Ann is right: Canberra."
    ])
    assert.deepStrictEqual(conversation.slice(-4), ["Ann  /best", "bot  Ann: 2", "Ben: 1", "you  (stop the program)"])
  })

  it("runs rss, which reads no feed of a private network", async () => {
    const { conversation } = await runSuccessfully("rss")
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "bot  Send /follow and the address of a feed.",
      "Ann  /follow",
      "bot  <url> is missing. Usage: /follow <url>",
      "Ann  /follow http://127.0.0.1/feed.xml",
      "bot  The feed http://127.0.0.1/feed.xml cannot be read: 127.0.0.1 is not on the public internet",
      "Ann  /unfollow",
      "bot  I will send nothing more.",
      "you  (stop the program)"
    ])
  })

  it("runs shop, which sells a product that the staff prepares", async () => {
    const { conversation } = await runSuccessfully("shop")
    const products = "[1: Tea 4 €]  [2: Cake 5 €]  [3: Mug 8 €]"
    assert.deepStrictEqual(conversation, [
      "Ann  (opens the bot)",
      "bot  Send /shop to open the shop.",
      "Ann  /shop",
      `bot  Your cart is empty.  ${products}`,
      "Ann  (presses Tea 4 €)",
      `bot edits  Your cart: Tea  ${products}  [4: Pay 4 €]  [5: Empty]`,
      "Ann  (presses Pay 4 €)",
      "bot  Order 1001: Tea  [1: Ready]",
      "bot edits  Thank you! Your order has the number 1001.",
      "Olga  (presses Ready)",
      "bot  Your order 1001 is ready.  [1: I have it]",
      "bot edits  Order 1001 is ready.",
      "Ann  (presses I have it)",
      "bot edits  Thank you for your visit.",
      "you  (stop the program)"
    ])
  })

  it("runs analytics, which is killed while it stores batches, and stores each message once", async ({ skip }) => {
    const ran = await runExample("analytics")
    if (ran.code === 3 && process.env["CI"] !== "true") {
      console.warn(ran.stderr.trim())
      skip(ran.stderr.trim())
    }
    assert.strictEqual(ran.code, 0, `${ran.stderr}\n${ran.lines.join("\n")}`)
    assert.deepStrictEqual(ran.conversation, [
      "people  (send 400 messages)",
      "you  (kill the program)",
      "people  (send 100 messages)",
      "you  (stop the program)",
      "database  500 messages, each stored once"
    ])
  })

  it("runs replicas, which keep answering when one of them stops", async ({ skip }) => {
    const ran = await runExample("replicas")
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
    assert.match(first, /^bot {2}Handled by process \d+$/)
    assert.match(second, /^bot {2}Handled by process \d+$/)
  })
})
