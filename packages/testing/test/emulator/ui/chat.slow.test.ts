/// <reference lib="dom" />
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Page } from "playwright-core"
import { isSkipped, openPage } from "../../support/browser.ts"
import type { Json } from "../../support/control.ts"
import { type PageEmulator, startEmulator, until } from "../../support/pageEmulator.ts"

let emulator: PageEmulator

beforeAll(async () => {
  if (!isSkipped) emulator = await startEmulator()
})

afterAll(() => emulator?.stop())

/** A person with a dialog, shown by the page. */
const openDialog = async (name: string, options: Parameters<typeof openPage>[1] = {}) => {
  await emulator.post("/reset")
  const { user_id } = await emulator.post("/users", { first_name: name })
  const { chat_id } = await emulator.post("/start", { user_id })
  const { page, problems } = await openPage(emulator.url, options)
  await page.getByRole("button", { name: /Bot/ }).first().click()
  const say = (text: string, more: object = {}) =>
    emulator.asBot("POST", `/messages?user_id=${user_id}`, { text, ...more }).then(({ message }) => message as Json)
  const sent = async () => (await emulator.get(`/chats/${chat_id}/messages`)).messages as ReadonlyArray<Json>
  return { page, problems, user_id, chat_id, say, sent }
}

const write = async (page: Page, text: string) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text)
  await page.keyboard.press("Enter")
}

const bubble = (page: Page, text: string) => page.locator("article.message", { hasText: text }).last()

const keyboardOf = (...rows: ReadonlyArray<ReadonlyArray<object>>) => ({
  attachments: [{ type: "inline_keyboard", payload: { buttons: rows } }]
})

describe.skipIf(isSkipped)("the chat of the page", () => {
  it("starts a bot with the payload of a deep link", async () => {
    await emulator.post("/reset")
    await emulator.post("/users", { first_name: "Ann" })
    const { page, problems } = await openPage(emulator.url)
    await page.getByText("with a payload…").click()
    await page.getByLabel("Payload of a deep link").fill("poster-7")
    await page.keyboard.press("Enter")
    await page.getByRole("textbox", { name: "Message" }).waitFor()
    const { updates } = await emulator.get("/updates")
    assert.deepStrictEqual(
      updates.map(({ payload, update_type }: Json) => [update_type, payload]),
      [["bot_started", "poster-7"]]
    )
    assert.deepStrictEqual(problems, [])
  })

  it("shows text with its markup", async () => {
    const { page, problems, say } = await openDialog("Ann")
    await say("**bold** _italic_ ~~gone~~ ++under++ `code` ^^marked^^ [site](https://example.com)\n> quoted", {
      format: "markdown"
    })
    const shown = bubble(page, "bold")
    await shown.waitFor()
    for (const [tag, text] of Object.entries({
      strong: "bold",
      em: "italic",
      s: "gone",
      u: "under",
      code: "code",
      mark: "marked",
      ".quote": "quoted"
    })) {
      assert.strictEqual(await shown.locator(`.text ${tag}`).textContent(), text)
    }
    assert.strictEqual(await shown.locator("a").getAttribute("href"), "https://example.com")
    assert.strictEqual(await shown.locator("a").getAttribute("rel"), "noopener noreferrer")
    assert.deepStrictEqual(problems, [])
  })

  it("writes a text with markdown, and announces the reply to screen readers", async () => {
    const { page, say, sent } = await openDialog("Ann")
    await write(page, "**now** please")
    await bubble(page, "now please").waitFor()
    const [message] = await sent()
    assert.deepStrictEqual(
      [message.body.text, message.body.markup],
      ["now please", [{ type: "strong", from: 0, length: 3 }]]
    )
    await say("Of course")
    await page.locator(".announcer", { hasText: "Bot: Of course" }).waitFor({ state: "attached" })
  })

  it("has buttons of all kinds, and shows the notification of the pressed button", async () => {
    const { page, problems, say, sent } = await openDialog("Ann", {
      permissions: ["clipboard-read", "clipboard-write"]
    })
    await say(
      "Choose",
      keyboardOf(
        [
          { type: "callback", text: "Yes", payload: "yes" },
          { type: "message", text: "Say hello" }
        ],
        [
          { type: "request_contact", text: "My phone" },
          { type: "request_geo_location", text: "My place" }
        ],
        [
          { type: "link", text: "Site", url: "https://example.com/a" },
          { type: "clipboard", text: "Copy it", payload: "CODE-1" }
        ]
      )
    )
    await page.getByRole("button", { name: "Yes" }).click()
    const [press] = await until(async () => {
      const { updates } = await emulator.get("/updates")
      const presses = updates.filter(({ update_type }: Json) => update_type === "message_callback")
      return presses.length > 0 ? presses : undefined
    })
    assert.strictEqual(press.callback.payload, "yes")
    await page.locator(".key.waiting").waitFor()
    await emulator.asBot("POST", `/answers?callback_id=${press.callback.callback_id}`, { notification: "Noted!" })
    await page.locator(".notification", { hasText: "Noted!" }).waitFor()
    assert.strictEqual(await page.locator(".key.waiting").count(), 0)
    await page.getByRole("button", { name: "Say hello" }).click()
    await bubble(page, "Say hello").waitFor()
    await page.getByRole("button", { name: "My phone" }).click()
    await page.locator(".bubble", { hasText: "+7900" }).waitFor()
    await page.getByRole("button", { name: "My place" }).click()
    await page.locator(".place").waitFor()
    assert.deepStrictEqual(
      (await sent()).slice(1).map(({ body }) => body.attachments?.[0]?.type ?? body.text),
      ["Say hello", "contact", "location"]
    )
    assert.strictEqual(await page.locator("a.key").getAttribute("href"), "https://example.com/a")
    await page.getByRole("button", { name: "Copy it" }).click()
    await page.locator(".toast", { hasText: "copied" }).waitFor()
    assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), "CODE-1")
    assert.deepStrictEqual(problems, [])
  })

  it("shows photos, videos, audio, files, stickers, contacts, places and shared links", async () => {
    const { page, problems, user_id } = await openDialog("Ann")
    const attachments = [
      { type: "image", payload: { url: "https://example.com/cat.png" } },
      { type: "video", width: 640, height: 360, duration: 61 },
      { type: "audio", transcription: "hello" },
      { type: "file", filename: "report.pdf", size: 2048 },
      { type: "sticker", payload: { code: "wave", url: "https://example.com/s" }, width: 1, height: 1 },
      { type: "contact", payload: { vcf_info: "BEGIN:VCARD\r\nFN:Ben\\, Jr\r\nTEL;TYPE=cell:+123456\r\nEND:VCARD" } },
      { type: "location", latitude: 1.5, longitude: -2.25 },
      { type: "share", payload: { url: "https://example.com/story" }, title: "A story" }
    ]
    for (const attachment of attachments) await emulator.post("/messages", { user_id, attachments: [attachment] })
    const list = page.locator(".messages")
    await list.getByText("A story").waitFor()
    for (const text of [
      "Open the image",
      "Video · 640 × 360 · 1 min 1 s",
      "https://example.com/story",
      "hello",
      "report.pdf",
      "2.0 KB",
      "wave",
      "Ben, Jr",
      "+123456",
      "1.50000, -2.25000"
    ]) {
      await list.getByText(text, { exact: true }).waitFor()
    }
    assert.deepStrictEqual(problems, [])
  })

  it("replies, edits with the history, forwards, and removes, by the keyboard", async () => {
    const { chat_id, page, say, sent, user_id } = await openDialog("Ann")
    const group = await emulator.post("/chats", { type: "chat", title: "Friends", members: [user_id] })
    const question = await say("How are you?")
    await bubble(page, "How are you?").waitFor()
    const menu = async (text: string, item: string) => {
      await bubble(page, text).focus()
      await page.keyboard.press("Enter")
      await page.getByRole("menuitem", { name: item, exact: true }).focus()
      await page.keyboard.press("Enter")
    }
    await menu("How are you?", "Reply")
    await page.locator(".quoting", { hasText: "Reply to Bot" }).waitFor()
    await page.keyboard.type("Fine")
    await page.keyboard.press("Enter")
    await bubble(page, "Fine").locator(".reply-to", { hasText: "How are you?" }).waitFor()
    assert.strictEqual((await sent())[1].link.message.mid, question.body.mid)
    // The arrow up edits the last message.
    await page.getByRole("textbox", { name: "Message" }).press("ArrowUp")
    await page.locator(".quoting", { hasText: "Edit" }).waitFor()
    await page.keyboard.press("End")
    await page.keyboard.type(", thanks")
    await page.keyboard.press("Enter")
    await bubble(page, "Fine, thanks").waitFor()
    await menu("Fine, thanks", "Show the edits")
    assert.match((await page.locator(".edits").textContent()) ?? "", /Fine$/)
    await menu("Fine, thanks", "Forward")
    await page.getByRole("dialog").getByRole("button", { name: "Friends" }).click()
    const forwarded = await until(async () => (await emulator.get(`/chats/${group.chat_id}/messages`)).messages[0])
    assert.strictEqual(forwarded.link.message.text, "Fine, thanks")
    await menu("Fine, thanks", "Remove")
    await page.locator("article.removed", { hasText: "Fine, thanks" }).waitFor()
    assert.strictEqual((await emulator.get(`/chats/${chat_id}/messages`)).messages.length, 1)
  })

  it("shows edits and removals of the bot, its typing, and the message that it pinned", async () => {
    const { chat_id, page, problems, say } = await openDialog("Ann")
    const first = await say("One")
    await bubble(page, "One").waitFor()
    await emulator.asBot("PUT", `/messages?message_id=${first.body.mid}`, { text: "Two" })
    await bubble(page, "Two").getByRole("button", { name: "edited" }).click()
    await page.locator(".edits", { hasText: "One" }).waitFor()
    await emulator.asBot("PUT", `/chats/${chat_id}/pin`, { message_id: first.body.mid })
    await page.locator(".pinned", { hasText: "Two" }).waitFor()
    await page.reload()
    await page.getByRole("button", { name: /Bot/ }).first().click()
    await page.locator(".pinned", { hasText: "Two" }).waitFor()
    await emulator.asBot("POST", `/chats/${chat_id}/actions`, { action: "typing_on" })
    await page.locator(".chat-title", { hasText: "typing" }).waitFor()
    await page.locator(".chat-row", { hasText: "typing" }).waitFor()
    await emulator.asBot("DELETE", `/messages?message_id=${first.body.mid}`)
    await page.locator("article.removed", { hasText: "Two" }).waitFor()
    assert.deepStrictEqual(problems, [])
  })

  it("sends files that are dropped, with the image shown from the emulator", async () => {
    const { page, problems, sent } = await openDialog("Ann")
    await page.getByRole("textbox", { name: "Message" }).waitFor()
    await page.evaluate(async () => {
      const canvas = document.createElement("canvas")
      canvas.width = 40
      canvas.height = 30
      canvas.getContext("2d")!.fillRect(0, 0, 20, 20)
      const blob = await new Promise<Blob>((resolve) => canvas.toBlob((made) => resolve(made!), "image/png"))
      const data = new DataTransfer()
      data.items.add(new File([blob], "dot.png", { type: "image/png" }))
      data.items.add(new File(["text"], "notes.txt", { type: "text/plain" }))
      const zone = document.querySelector(".conversation")!
      zone.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }))
      zone.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
    })
    await page.locator(".drafts li", { hasText: "notes.txt" }).waitFor()
    await write(page, "Two files")
    const photo = page.locator("img.photo")
    await photo.waitFor()
    await page.waitForFunction(() => (document.querySelector("img.photo") as HTMLImageElement).naturalWidth === 40)
    await page.locator(".messages .file-name", { hasText: "notes.txt" }).waitFor()
    const messages = await sent()
    assert.deepStrictEqual(
      messages.map(({ body }) => [body.text, body.attachments.map(({ filename, type }: Json) => filename ?? type)]),
      [
        ["Two files", ["image"]],
        ["", ["notes.txt"]]
      ]
    )
    assert.deepStrictEqual(problems, [])
  })

  it("sends a contact with a phone number, a place and a sticker", async () => {
    const { page, sent } = await openDialog("Ann")
    const attach = async (name: string) => {
      await page.getByRole("button", { name: "Attach" }).click()
      await page.getByRole("menuitem", { name, exact: true }).click()
    }
    await attach("Contact")
    await page.getByLabel("Name").fill("Ben; Berg")
    await page.getByLabel("Phone number").fill("+4912345678")
    await page.getByRole("button", { name: "Send", exact: true }).last().click()
    await page.locator(".messages", { hasText: "+4912345678" }).waitFor()
    await attach("Place")
    await page.getByLabel("Latitude").fill("52.5")
    await page.getByLabel("Longitude").fill("13.4")
    await page.keyboard.press("Enter")
    await page.locator(".place", { hasText: "52.50000, 13.40000" }).waitFor()
    await attach("Sticker")
    await page.locator(".sticker").waitFor()
    const [contact, place, sticker] = (await sent()).map(({ body }) => body.attachments[0])
    assert.match(contact.payload.vcf_info, /FN:Ben\\; Berg\r\nTEL;TYPE=cell:\+4912345678/)
    assert.deepStrictEqual([place.latitude, place.longitude, sticker.type], [52.5, 13.4, "sticker"])
  })

  it("suggests the commands of the bot at a slash", async () => {
    const { page, sent } = await openDialog("Ann")
    const commands = [{ name: "help", description: "What I can do" }, { name: "hello" }, { name: "stop" }]
    await emulator.asBot("PATCH", "/me/commands", { commands })
    const field = page.getByRole("textbox", { name: "Message" })
    await field.fill("/h")
    await page.locator(".suggestions li").nth(1).waitFor()
    assert.strictEqual(await page.locator(".suggestions li").count(), 2)
    await field.press("ArrowDown")
    await field.press("Enter")
    assert.strictEqual(await field.inputValue(), "/hello ")
    await field.press("Enter")
    await bubble(page, "/hello").waitFor()
    assert.strictEqual((await sent())[0].body.text, "/hello")
  })

  it("shows channels with comments, in which people and the bot write", async () => {
    await emulator.post("/reset")
    const { user_id } = await emulator.post("/users", { first_name: "Ann" })
    const { chat_id } = await emulator.post("/chats", {
      type: "channel",
      title: "News",
      members: [user_id],
      bot: { admin: true }
    })
    const { message } = await emulator.asBot("POST", `/messages?chat_id=${chat_id}`, { text: "Version 2" })
    const { page } = await openPage(emulator.url)
    await page.getByRole("button", { name: /News/ }).first().click()
    await page.getByRole("button", { name: "Comment", exact: true }).click()
    await page.getByRole("textbox", { name: "Comment" }).fill("Great")
    await page.keyboard.press("Enter")
    await page.locator(".comment", { hasText: "Great" }).waitFor()
    await emulator.asBot("POST", `/messages/${message.body.mid}/comments`, { text: "Thank you" })
    await page.locator(".comment", { hasText: "Thank you" }).waitFor()
    await page.getByRole("button", { name: "Back to the channel" }).click()
    await page.getByRole("button", { name: "2 comments" }).waitFor()
    assert.strictEqual((await emulator.get(`/chats/${chat_id}/messages`)).messages[0].stat.views, 1)
  })

  it("shows two people side by side, each with their view of a group", async () => {
    await emulator.post("/reset")
    const ann = await emulator.post("/users", { first_name: "Ann" })
    const ben = await emulator.post("/users", { first_name: "Ben" })
    await emulator.post("/chats", { type: "chat", title: "Friends", members: [ann.user_id, ben.user_id] })
    const { page, problems } = await openPage(emulator.url)
    await page.locator(".chat-row", { hasText: "Friends" }).click()
    await page.getByRole("button", { name: "Two people side by side" }).click()
    const [left, right] = [page.locator(".pane").first(), page.locator(".pane").last()]
    await left.getByRole("textbox", { name: "Message" }).fill("Hi Ben")
    await page.keyboard.press("Enter")
    await right.locator(".message:not(.own)", { hasText: "Hi Ben" }).waitFor()
    await right.getByRole("textbox", { name: "Message" }).fill("Hi Ann")
    await page.keyboard.press("Enter")
    await left.locator(".message:not(.own)", { hasText: "Hi Ann" }).locator(".author", { hasText: "Ben" }).waitFor()
    await right.locator(".message.own", { hasText: "Hi Ann" }).waitFor()
    assert.deepStrictEqual(problems, [])
  })
})
