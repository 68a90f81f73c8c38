/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { isSkipped, openPage } from "../../support/browser.ts"
import type { Json } from "../../support/control.ts"
import { listen } from "../../support/listen.ts"
import { type PageEmulator, startEmulator, until } from "../../support/pageEmulator.ts"

const run = promisify(execFile)

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator({ limits: {}, insecureWebhooks: true })
})

afterAll(() => emulator?.stop())

const openTools = async (tab: string, options: Parameters<typeof openPage>[1] = {}) => {
  await emulator.post("/reset")
  await emulator.put("/faults", [])
  const { user_id } = await emulator.post("/users", { first_name: "Ann" })
  const { chat_id } = await emulator.post("/start", { user_id })
  const { page, problems } = await openPage(emulator.url, options)
  await page.getByRole("button", { name: /Bot/ }).first().click()
  await page.getByRole("tab", { name: tab }).click()
  return { page, problems, user_id, chat_id, tool: page.locator("#tool") }
}

const permissions = { permissions: ["clipboard-read", "clipboard-write"] }

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText())

describe.skipIf(isSkipped)("the tools of the page", () => {
  it("link a request to its message, hide the token, and copy it as a command that works", async () => {
    const { page, problems, tool, user_id } = await openTools("Requests", permissions)
    const text = 'It\'s "quoted" $HOME `date`'
    await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text })
    await tool.getByRole("button", { name: /Messages\.send/ }).click()
    await tool.getByText('"text": "It').first().waitFor()
    assert.notInclude((await tool.textContent()) ?? "", "emulator-token")
    await tool.getByRole("button", { name: "Copy as curl" }).click()
    await page.locator(".toast", { hasText: "copied" }).waitFor()
    const command = await clipboard(page)
    assert.notInclude(command, "emulator-token")
    // The limit of 2 messages a second has passed.
    await emulator.post("/clock", { advance_ms: 2000 })
    const { stdout } = await run("bash", ["-c", command], { env: { ...process.env, TOKEN: "emulator-token" } })
    assert.strictEqual(JSON.parse(stdout).message?.body.text, text, stdout)
    await tool.getByRole("button", { name: "Show the message" }).last().click()
    assert.include((await page.evaluate(() => document.activeElement?.textContent)) ?? "", "It's")
    const message = page.locator("article.message").first()
    await message.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("menuitem", { name: "Show what happened" }).click()
    await tool.getByText("Of one message only").waitFor()
    assert.strictEqual(await tool.locator(".step").count(), 1)
    await tool.locator(".rungs .line").first().click()
    await page.getByRole("tab", { name: "Requests", selected: true }).waitFor()
    await tool.getByText("Headers, without the token").waitFor()
    assert.deepStrictEqual(problems, [])
  })

  it("show attempts to deliver, when the next is due, deliver at once, and list dead deliveries", async () => {
    const { page, tool, user_id } = await openTools("Updates")
    await emulator.asBot("POST", "/subscriptions", { url: "http://127.0.0.1:9/updates" })
    await emulator.post("/messages", { user_id, text: "hi" })
    await tool.getByText("next at").waitFor()
    await tool.getByText("attempt 1").waitFor()
    await tool.getByRole("button", { name: "Deliver now" }).click()
    await tool.getByText("attempt 2").waitFor()
    await tool.locator(".log-head").first().click()
    await tool.locator(".attempts li").nth(1).waitFor()
    await page.getByRole("tab", { name: "Clock" }).click()
    await page.getByRole("button", { name: "To the next due thing" }).click()
    await page.getByRole("tab", { name: "Updates" }).click()
    await tool.getByText("attempt 3").waitFor()
    await emulator.asBot("DELETE", "/subscriptions?url=http://127.0.0.1:9/updates")
    await tool.locator(".status", { hasText: "dead" }).waitFor()
    assert.deepStrictEqual((await emulator.get("/deliveries")).waiting, [])
  })

  it("show how much of the limits is used, and the refused requests", async () => {
    const { tool, user_id } = await openTools("Limits")
    await emulator.post("/clock", { running: false })
    for (let i = 0; i < 3; i++) {
      await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: `${i}` }).catch(() => undefined)
    }
    const gauge = tool.locator(".gauge", { hasText: "Messages in a chat: Ann" })
    await gauge.getByText("2 of 2").waitFor()
    await gauge.getByText("answered with 429").waitFor()
    await tool.locator(".log-row", { hasText: "429" }).waitFor()
    await emulator.post("/clock", { running: true })
    await tool.locator(".gauge", { hasText: "All requests" }).getByText("0 of 30").waitFor()
    assert.strictEqual(await tool.locator(".log-row", { hasText: "429" }).count(), 1)
  })

  it("stop, run and move the clock", async () => {
    const { page, tool } = await openTools("Clock")
    const clock = () => emulator.get("/clock") as Promise<{ readonly now: number; readonly is_running: boolean }>
    await tool.getByRole("button", { name: "Stop" }).click()
    await tool.getByText("stopped").waitFor()
    const { is_running, now } = await clock()
    assert.isFalse(is_running)
    await tool.getByRole("button", { name: "+1 minute" }).click()
    await until(async () => ((await clock()).now === now + 60_000 ? true : undefined))
    await tool.getByRole("button", { name: "+8 hours" }).click()
    await until(async () => ((await clock()).now === now + 60_000 + 28_800_000 ? true : undefined))
    await tool.getByRole("button", { name: "Run" }).click()
    await tool.getByText("running").waitFor()
    assert.isTrue((await clock()).is_running)
    await page.close()
  })

  it("add faults from a form, and show where they were applied", async () => {
    const { tool, user_id } = await openTools("Faults")
    await tool.getByText("Another fault").click()
    await tool.locator("input[name=status]").fill("502")
    await tool.locator("input[name=endpoint]").fill("Messages.send")
    await tool.getByText("When it applies").click()
    await tool.getByLabel("At most so many times").fill("1")
    await tool.getByRole("button", { name: "Add the fault" }).click()
    await tool.getByText("Messages.send is answered with 502, once.").waitFor()
    await tool.getByText("applied 0 of 0").waitFor()
    assert.deepStrictEqual(
      (await emulator.get("/faults")).faults.map(({ rule }: Json) => rule),
      [{ endpoint: "Messages.send", times: 1, status: 502 }]
    )
    const failed = await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "a" }).catch(String)
    assert.include(failed, "502")
    await tool.getByText("applied 1 of 1").waitFor()
    await tool.getByText("POST /messages").waitFor()
    await tool.getByRole("button", { name: "Remove" }).click()
    await tool.getByText("No faults.").waitFor()
    assert.deepStrictEqual((await emulator.get("/faults")).faults, [])
  })

  it("say why a fault is invalid", async () => {
    const { page, tool } = await openTools("Faults")
    await tool.getByText("Another fault").click()
    await tool.locator("input[name=endpoint]").fill("Messages.sent")
    await tool.getByRole("button", { name: "Add the fault" }).click()
    await page.locator(".toast.error", { hasText: "did you mean Messages.send?" }).waitFor()
    assert.deepStrictEqual((await emulator.get("/faults")).faults, [])
  })

  it("create people and chats, and give rights", async () => {
    const { page, problems, tool } = await openTools("People")
    await tool.getByText("New person").click()
    await tool.getByLabel("First name").fill("Ben")
    await tool.getByRole("button", { name: "Create the person" }).click()
    await page.locator(".toast", { hasText: "You are Ben" }).waitFor()
    await tool.getByText("New group or channel").click()
    await tool.getByLabel("Title").fill("Team")
    await tool.getByLabel("Owner").selectOption("Ben")
    await tool.getByRole("button", { name: "Create the chat" }).click()
    await page.locator(".toast", { hasText: "Team is created" }).waitFor()
    await tool.locator("li", { hasText: "Team" }).getByRole("button", { name: "Rights" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.locator("li", { hasText: "Bot" }).getByRole("button", { name: "Rights" }).click()
    await dialog.getByLabel("pin_message").check()
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByText("administrator: pin_message").waitFor()
    const { chats } = await emulator.get("/state")
    const team = chats.find(({ chat }: Json) => chat.title === "Team")
    assert.deepStrictEqual(
      team.members.map(({ first_name, is_owner, permissions }: Json) => [first_name, is_owner, permissions?.length]),
      [
        ["Ben", true, 11],
        ["Ann", false, undefined],
        ["Bot", false, 1]
      ]
    )
    assert.deepStrictEqual(problems, [])
  })

  it("save the state as a seed, load it again, and download the journal", async () => {
    const { page, tool, user_id } = await openTools("State")
    await emulator.post("/messages", { user_id, text: "keep me" })
    const saving = page.waitForEvent("download")
    await tool.getByRole("button", { name: "Save the state as a seed" }).click()
    const path = await (await saving).path()
    await emulator.post("/messages", { user_id, text: "lose me" })
    await tool.locator("input[type=file]").setInputFiles({
      name: "seed.json",
      mimeType: "application/json",
      buffer: readFileSync(path)
    })
    await page.locator(".toast", { hasText: "seed.json is loaded" }).waitFor()
    const { chats } = await emulator.get("/state")
    const { messages } = await emulator.get(`/chats/${chats[0].chat.chat_id}/messages`)
    assert.deepStrictEqual(
      messages.map(({ body }: Json) => body.text),
      ["keep me"]
    )
    const downloading = page.waitForEvent("download")
    await tool.getByRole("link", { name: "Download the journal" }).click()
    const lines = readFileSync(await (await downloading).path(), "utf8")
      .trimEnd()
      .split("\n")
    assert.isTrue(lines.some((line) => line.includes("lose me") && JSON.parse(line).type === "message"))
  })

  it("lead from a request that a fault answered to its rule, also after the rule is over", async () => {
    const { page, tool, user_id } = await openTools("Faults")
    await tool.getByRole("button", { name: "429 for 10 s" }).click()
    await tool.getByText("Every request is answered with 429, for 10 s.").waitFor()
    const send = (text: string) => emulator.asBot("POST", `/messages?user_id=${user_id}`, { text }).catch(String)
    assert.include(await send("refused"), "429")
    await emulator.post("/clock", { advance_ms: 10_000 })
    assert.strictEqual((await send("admitted")).message.body.text, "admitted")
    await page.getByRole("tab", { name: "Requests" }).click()
    const refused = tool.locator(".log-row", { hasText: "refused" })
    assert.strictEqual(await refused.locator(".line b").textContent(), "Messages.send")
    await tool.getByLabel("Status").selectOption("By a fault")
    await tool.locator(".log-row", { hasText: "admitted" }).waitFor({ state: "detached" })
    await refused.getByRole("button", { name: "fault", exact: true }).click()
    await tool.locator(".log-row.marked", { hasText: "for 10 s" }).waitFor()
    await tool.getByText("over", { exact: false }).waitFor()
  })

  it("filter requests by endpoint, chat and text, and show more than a hundred", async () => {
    const { tool, user_id } = await openTools("Requests")
    await emulator.put("/faults", [{ endpoint: "Messages.send", status: 503 }])
    for (let i = 0; i < 105; i++) {
      await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: `number ${i}` }).catch(() => undefined)
    }
    await emulator.asBot("GET", "/me")
    await tool.getByText("“number 104”").waitFor()
    assert.strictEqual(await tool.getByText("“number 0”").count(), 0)
    await tool.getByRole("button", { name: /Show more of \d+/ }).click()
    await tool.getByText("“number 0”").waitFor()
    await tool.getByLabel("Text").fill("number 77")
    await tool.getByText("“number 0”").waitFor({ state: "detached" })
    assert.deepStrictEqual(await tool.locator(".log-row .line b").allTextContents(), ["Messages.send"])
    await tool.getByLabel("Text").fill("")
    await tool.getByLabel("Endpoint").selectOption("Me.get")
    await tool.getByText("“number 104”").waitFor({ state: "detached" })
    assert.strictEqual(await tool.locator(".log-row").count(), 1)
    await tool.getByLabel("Chat").selectOption("Ann")
    await tool.getByText("No request matches.").waitFor()
  })

  it("send a request again", async () => {
    const { page, tool, user_id } = await openTools("Requests")
    await emulator.put("/faults", [{ endpoint: "Messages.send", status: 503, times: 1 }])
    await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "at last" }).catch(() => undefined)
    await tool.locator(".log-head", { hasText: "at last" }).click()
    await tool.getByRole("button", { name: "Send again" }).click()
    await page.locator(".toast", { hasText: "answered with 200" }).waitFor()
    await page.locator("article.message", { hasText: "at last" }).waitFor()
    const { requests } = await emulator.get("/requests")
    assert.deepStrictEqual(
      requests.map(({ body, status }: Json) => [body.text, status]),
      [
        ["at last", 503],
        ["at last", 200]
      ]
    )
  })

  it("show the state of each update, its JSON, and the requests that followed", async () => {
    const { page, problems, tool, user_id } = await openTools("Timeline", permissions)
    await page.locator(".bots-chip", { hasText: "No bot connected" }).waitFor()
    const started = await emulator.asBot("GET", "/updates?timeout=0")
    await emulator.post("/clock", { advance_ms: 2000 })
    await emulator.post("/messages", { user_id, text: "hello" })
    const step = tool.locator(".step", { hasText: "“hello”" })
    await step.getByText("waiting").waitFor()
    const { marker } = await emulator.asBot("GET", `/updates?timeout=0&marker=${started.marker}`)
    await step.getByText("taken").waitFor()
    await page.locator(".bots-chip", { hasText: "Bot connected" }).waitFor()
    await emulator.post("/clock", { advance_ms: 2000 })
    await emulator.asBot("GET", `/updates?timeout=0&marker=${marker}`)
    await step.getByText("handled").waitFor()
    await emulator.put("/faults", [{ endpoint: "Messages.send", status: 503, times: 1 }])
    const answer = () => emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "You said: hello" })
    await answer().catch(() => undefined)
    await step.getByText("failed").waitFor()
    await emulator.post("/messages", { user_id, text: "next" })
    await answer()
    await step.getByText("2 requests").waitFor()
    await step.getByText("handled").waitFor()
    await step.locator("> .line").click()
    const json = step.getByLabel("JSON of the update")
    await json.waitFor()
    await step.getByRole("button", { name: "Copy" }).click()
    await page.locator(".toast", { hasText: "copied" }).waitFor()
    assert.strictEqual(JSON.parse(await clipboard(page)).message.body.text, "hello")
    await json.fill((await json.inputValue()).replace('"hello"', '"changed"'))
    await step.getByRole("button", { name: "Resend" }).click()
    await tool.locator(".step", { hasText: "“changed”" }).waitFor()
    const { updates } = await emulator.get("/updates")
    assert.strictEqual(updates.at(-1).message.body.text, "changed")
    await page.getByRole("tab", { name: "Updates" }).click()
    await tool.locator(".log-row", { hasText: "“hello”" }).getByText("→ Messages.send").waitFor()
    assert.deepStrictEqual(problems, [])
  })

  it("show which part of the bot handled an update, with each attempt, if the bot tells it", async () => {
    const { page, problems, tool, user_id } = await openTools("Timeline")
    await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "welcome" })
    const { body } = await emulator.post("/messages", { user_id, text: "hello" })
    const step = tool.locator(".step", { hasText: "“hello”" })
    await step.getByText("waiting").waitFor()
    const tell = (attempt: number, outcome: object) =>
      emulator.asBot("POST", "/_emulator/handled", {
        entries: [
          {
            id: "1",
            fingerprint: `message_created:${body.mid}`,
            update_type: "message_created",
            part: { kind: "command", name: "start" },
            attempt,
            receivedAt: 0,
            startedAt: 5,
            endedAt: 12,
            calls: [],
            ...outcome
          }
        ]
      })
    await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "You said: hello" })
    await tell(1, { outcome: "failed", error: "Error: not now" })
    await step.getByText("command start: failed in 7 ms, Error: not now").waitFor()
    await step.locator(".status", { hasText: "failed" }).first().waitFor()
    await tell(2, { outcome: "handled" })
    await step.getByText("command start: handled in 7 ms, attempt 2").waitFor()
    await step.locator("> .line .status", { hasText: "handled" }).waitFor()
    const ladder = await step.locator(".attempt, .rungs").evaluateAll((all) => all.map((each) => each.className))
    assert.deepStrictEqual(ladder, ["attempt", "attempt", "rungs"])
    await page.getByRole("tab", { name: "Updates" }).click()
    await tool.getByText("command start: handled in 7 ms, attempt 2 → Messages.send").waitFor()
    assert.deepStrictEqual(problems, [])
  })

  it("show the state of each update of a bot with webhooks", async () => {
    const { problems, tool, user_id } = await openTools("Timeline")
    const waiting: Array<ServerResponse> = []
    const answer = async (status: number) => {
      const response = await until(async () => waiting.shift())
      response.writeHead(status).end()
    }
    const server = createServer((_, response) => waiting.push(response))
    await Effect.gen(function* () {
      const url = `http://127.0.0.1:${yield* listen(server)}`
      yield* Effect.promise(async () => {
        await emulator.asBot("POST", "/subscriptions", { url: `${url}/first` })
        await emulator.post("/messages", { user_id, text: "welcome" })
        const step = tool.locator(".step", { hasText: "“welcome”" })
        await step.getByText("waiting").waitFor()
        await answer(503)
        await step.getByText("failed").waitFor()
        const [failed] = (await emulator.get("/deliveries")).waiting
        const delivered = emulator.post("/deliver_now", { delivery_id: failed.delivery_id })
        await answer(200)
        await delivered
        await step.getByText("taken").waitFor()
        await emulator.asBot("POST", `/messages?user_id=${user_id}`, { text: "You said: welcome" })
        await step.getByText("1 request").waitFor()
        await step.getByText("handled").waitFor()

        // One of two servers that takes an update is enough.
        await emulator.asBot("POST", "/subscriptions", { url: `${url}/second` })
        await emulator.post("/messages", { user_id, text: "again" })
        const second = tool.locator(".step", { hasText: "“again”" })
        await answer(200)
        await second.getByText("taken").waitFor()
        await answer(503)
        await until(async () => (await emulator.get("/deliveries")).waiting[0])
        await tool.page().getByRole("tab", { name: "Updates" }).click()
        await tool.getByText("Waiting 1").waitFor()
        await tool.locator(".log-row", { hasText: "“again”" }).getByText("taken").waitFor()
      })
    }).pipe(Effect.scoped, Effect.runPromise)
    assert.deepStrictEqual(problems, [])
  })

  it("say that a bot is no longer connected when its poll is cut off", async () => {
    const { page } = await openTools("Updates")
    await emulator.asBot("GET", "/updates?timeout=0")
    await emulator.post("/clock", { advance_ms: 2000 })
    await page.locator(".bots-chip", { hasText: "Bot connected" }).waitFor()
    const { marker } = await emulator.asBot("GET", "/updates?timeout=0")
    await emulator.post("/clock", { advance_ms: 2000 })
    const controller = new AbortController()
    const poll = fetch(`${emulator.url}/updates?timeout=30&marker=${marker}`, {
      headers: { authorization: "emulator-token" },
      signal: controller.signal
    }).catch(() => undefined)
    await until(async () => ((await emulator.get("/state")).bots[0].is_connected === true ? true : undefined))
    controller.abort()
    await poll
    await page.locator(".bots-chip", { hasText: "No bot connected" }).waitFor()
    assert.isFalse((await emulator.get("/state")).bots[0].is_connected)
  })
})
