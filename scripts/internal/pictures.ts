import { spawn } from "node:child_process"
import { existsSync, mkdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { executablePath, launch } from "../../packages/testing/test/support/browserLaunch.ts"
import { buildPages } from "./page.ts"
import { root } from "./workspace.ts"

/** The pictures of the documentation, and the largest size of each in bytes. */
const folder = join(root, "docs/pictures")

const maxSize = 150_000

const keyboard = {
  type: "inline_keyboard",
  payload: {
    buttons: [
      [
        { type: "callback", text: "Coffee", payload: "coffee" },
        { type: "callback", text: "Tea", payload: "tea" }
      ],
      [{ type: "request_geo_location", text: "Send my place" }],
      [{ type: "link", text: "Open the menu", url: "https://example.com/menu" }]
    ]
  }
}

const seed = {
  users: [
    { user_id: 1, first_name: "Ann" },
    { user_id: 2, first_name: "Ben" },
    { user_id: 3, first_name: "Chiara" }
  ],
  chats: [
    {
      type: "dialog",
      chat_id: 6,
      members: [1],
      messages: [
        { user_id: 1, text: "/order" },
        {
          text: "**Good morning, Ann!** What would you like?\n> Delivery until 20:00",
          format: "markdown",
          attachments: [keyboard]
        },
        { user_id: 1, text: "A flat white, please" },
        { text: "On its way, in about *20 minutes*.", format: "markdown", link: { type: "reply", index: 2 } }
      ]
    },
    {
      type: "chat",
      chat_id: -7,
      title: "Weekend trip",
      members: [1, 2, 3],
      bot: { admin: true },
      messages: [
        { user_id: 2, text: "Who drives?" },
        { user_id: 3, text: "I can, from Friday" },
        { text: "The cabin is booked **Friday to Sunday**.", format: "markdown" }
      ],
      pinned: 2
    },
    {
      type: "channel",
      chat_id: -8,
      title: "News",
      owner_id: 2,
      members: [1, 3],
      bot: { admin: true },
      messages: [{ text: "# Version 2 is out", format: "markdown", comments: [{ user_id: 1, text: "Great!" }] }]
    }
  ],
  silent: true
}

/** Starts the emulator, and returns its URL. */
const startEmulator = async () => {
  const bin = join(root, "packages/testing/src/bin.ts")
  const child = spawn(process.execPath, ["--conditions=source", bin, "--json", "--limits", "30,2,2"])
  const [line] = await child.stdout.setEncoding("utf8").take(1).toArray()
  const { token, url } = JSON.parse(String(line)) as { readonly token: string; readonly url: string }
  return { url, token, stop: () => child.kill() }
}

/** Makes the pictures of the page, unless there is no browser. */
export const makePictures = async (): Promise<void> => {
  if (executablePath === undefined) {
    console.log("The pictures are not made: there is no Chromium. Install it, or set CHROMIUM_PATH.")
    return
  }
  await buildPages()
  mkdirSync(folder, { recursive: true })
  const { stop, token, url } = await startEmulator()
  const browser = await launch()
  try {
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
    await post("/_emulator/seed", seed)
    const send = (chat_id: number, text: string) =>
      post(`/messages?chat_id=${chat_id}`, { text }, { authorization: token, "content-type": "application/json" })
    for (const text of ["Rain on Saturday.", "Bring a jacket.", "And boots."]) await send(-7, text)
    const open = async (width: number, height: number, colorScheme: "light" | "dark") => {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" })
      const page = await context.newPage()
      await page.goto(`${url}/_emulator/ui`)
      await page
        .getByRole("button", { name: /^B\s*Bot|Bot/ })
        .last()
        .click()
      await page.locator(".reply-to").waitFor()
      return page
    }
    const save = async (page: Awaited<ReturnType<typeof open>>, name: string) => {
      const path = join(folder, `${name}.png`)
      await page.screenshot({ path })
      const { size } = statSync(path)
      if (size > maxSize) throw new Error(`docs/pictures/${name}.png has ${size} bytes: at most ${maxSize} are allowed`)
    }
    const light = await open(1240, 700, "light")
    await save(light, "chat")
    await light.getByRole("button", { name: "Two people side by side" }).click()
    await light.getByRole("tab", { name: "Faults" }).click()
    await light
      .locator(".pane")
      .last()
      .getByRole("button", { name: /Weekend/ })
      .click()
    await light.locator(".pinned").waitFor()
    await save(light, "two-people")
    const dark = await open(1240, 700, "dark")
    await save(dark, "chat-dark")
    await dark.getByRole("tab", { name: "Requests" }).click()
    await dark.locator(".log-head").first().click()
    await dark.getByText("Copy as curl").waitFor()
    await save(dark, "requests")
    await save(await open(360, 640, "dark"), "phone")
    await dark.setViewportSize({ width: 900, height: 560 })
    await dark.getByRole("button", { name: "Copy as test" }).click()
    await dark.getByRole("dialog").waitFor()
    await save(dark, "copy-as-test")
  } finally {
    await browser.close()
    stop()
  }
}

/** The pictures that the documentation shows and that do not exist. */
export const missingPictures = (pages: ReadonlyArray<{ readonly path: string; readonly text: string }>) =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\]\(|src(?:set)?=")([\w./-]*pictures\/[\w-]+\.png)[)"]/g)]
      .map(([, picture]) => join(root, path, "..", picture))
      .filter((picture) => !existsSync(picture))
  )
