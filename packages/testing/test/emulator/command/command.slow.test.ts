import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createSecure } from "node:https"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { makeAuthority, makeHost } from "../../support/certificates.ts"
import { temporaryFolder, liveTest, startJson, run, start, startStarter } from "../../support/command.ts"
import { call, type Json } from "../../support/control.ts"
import { listen } from "../../support/listen.ts"

const fullDevice = "/dev/full"

describe("colloquy-emulator", () => {
  liveTest(
    "prints its URL in the first line, and exits with 0 on SIGTERM and SIGINT",
    Effect.gen(function* () {
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        const { exited, firstLine, kill } = yield* start()
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(yield* firstLine)?.[0]
        const { body, status } = yield* call("GET", "/me", undefined, { baseUrl: url!, token: "emulator-token" })
        assert.deepStrictEqual([status, body.is_bot], [200, true])
        yield* kill(signal)
        const { code, stderr } = yield* exited
        assert.deepStrictEqual([code, stderr], [0, ""])
      }
    })
  )

  liveTest(
    "exits at once while a poll waits",
    Effect.gen(function* () {
      const { asBot, exited, kill } = yield* startJson()
      yield* Effect.forkChild(Effect.exit(asBot("GET", "/updates?timeout=90")))
      yield* asBot("GET", "/me")
      yield* kill("SIGTERM")
      assert.strictEqual((yield* Effect.timeout(exited, "1 minute")).code, 0)
    })
  )

  liveTest(
    "prints one JSON object with --json, and creates a bot for each token",
    Effect.gen(function* () {
      const { asBot, line, getOk, token, uploads } = yield* startJson("--token", "one", "--token", "two")
      assert.deepStrictEqual(Object.keys(JSON.parse(line) as object), ["url", "uploads", "token", "page"])
      assert.deepStrictEqual(Object.keys(uploads).toSorted(), ["audio", "file", "image", "video"])
      assert.strictEqual(token, "one")
      const ids = yield* Effect.forEach(["one", "two"], (as) =>
        Effect.map(asBot("GET", "/me", undefined, as), ({ body }) => body.user_id)
      )
      assert.notStrictEqual(ids[0], ids[1])
      assert.strictEqual((yield* asBot("GET", "/me", undefined, "emulator-token")).status, 401)
      assert.lengthOf((yield* getOk("/bots")).bots, 2)
    })
  )

  liveTest(
    "runs the program after -- with the settings of a bot, and exits with its code",
    Effect.gen(function* () {
      const program = `
        import { writeFileSync } from "node:fs"
        const { BOT_BASE_URL, BOT_INBOX, BOT_PRIVATE_HOSTS, BOT_TOKEN, BOT_WEBHOOK_INSECURE, BOT_WEBHOOK_URL } = process.env
        const me = await fetch(BOT_BASE_URL + "/me", { headers: { authorization: BOT_TOKEN } })
        const body = JSON.stringify({ url: BOT_WEBHOOK_URL })
        const headers = { authorization: BOT_TOKEN, "content-type": "application/json" }
        const subscribed = await fetch(BOT_BASE_URL + "/subscriptions", { method: "POST", headers, body })
        writeFileSync(BOT_INBOX, "")
        const isHost = new URL(BOT_BASE_URL).hostname === BOT_PRIVATE_HOSTS
        const { NODE_COMPILE_CACHE } = process.env
        console.log(me.status, subscribed.status, BOT_WEBHOOK_INSECURE && isHost, process.argv.slice(2).join(), BOT_INBOX, NODE_COMPILE_CACHE)
        process.exit(7)`
      const script = join(yield* temporaryFolder, "program.mjs")
      writeFileSync(script, program)
      const { code, stdout } = yield* run("--lenient", "--", process.execPath, script, "one", "--two")
      const [me, subscribed, isInsecure, args, inbox, compileCache] = stdout.trim().split(" ")
      assert.deepStrictEqual([code, me, subscribed, isInsecure, args], [7, "200", "200", "true", "one,--two"])
      assert.isFalse(existsSync(inbox!))
      assert.isNotEmpty(compileCache.replace("undefined", ""))
    })
  )

  liveTest(
    "prints what to open and what to edit with --bot, and the copied tests import the module",
    Effect.gen(function* () {
      const { exited, firstLine, kill } = yield* start("--bot", "src/bot.ts")
      const url = /^Open (\S+)\/_emulator\/ui to write to the bot\.$/.exec(yield* firstLine)?.[1]
      const { body } = yield* call("GET", "/_emulator/state", undefined, { baseUrl: url!, token: "emulator-token" })
      assert.strictEqual(body.bot_module, pathToFileURL("src/bot.ts").href)
      yield* kill("SIGTERM")
      assert.include((yield* exited).stdout, "\nEdit src/bot.ts to change the bot.\n")
    })
  )

  liveTest(
    "stops the program after -- on SIGTERM, and reports one that cannot be run",
    Effect.gen(function* () {
      const waiting = yield* start(
        "--",
        process.execPath,
        "-e",
        "console.log(process.pid); setInterval(() => {}, 1000)"
      )
      const pid = Number(yield* waiting.firstLine)
      yield* waiting.kill("SIGTERM")
      assert.strictEqual((yield* waiting.exited).code, 0)
      assert.throws(() => process.kill(pid, 0), "ESRCH")
      const missing = yield* run("--", "no-such-program")
      assert.strictEqual(missing.code, 2)
      assert.match(missing.stderr, /^colloquy-emulator: cannot run no-such-program: there is no such program$/m)
      const both = yield* run("--mcp", "--", "node")
      assert.include(both.stderr, "--mcp and a program after --: use one of them")
    })
  )

  liveTest(
    "ends when npx has been killed, which does not pass signals on",
    Effect.gen(function* () {
      const isRunning = (pid: number): boolean => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      }
      const { exited, firstLine, kill } = yield* startStarter([{ npm_command: "exec" }, { npm_command: "run-script" }])
      const [byNpx = 0, byScript = 0] = JSON.parse(yield* firstLine) as ReadonlyArray<number>
      yield* Effect.addFinalizer(() => Effect.sync(() => isRunning(byScript) && process.kill(byScript, "SIGKILL")))
      assert.deepStrictEqual([isRunning(byNpx), isRunning(byScript)], [true, true])
      yield* kill("SIGKILL")
      yield* exited
      yield* Effect.repeat(
        Effect.sync(() => isRunning(byNpx)),
        { while: (running) => running, schedule: Schedule.spaced("50 millis") }
      )
      assert.isTrue(isRunning(byScript))
    })
  )

  liveTest(
    "prints a URL that can be called if it listens on all interfaces",
    Effect.gen(function* () {
      const { asBot, uploads, url } = yield* startJson("--host", "0.0.0.0")
      for (const address of [url, ...Object.values(uploads)]) assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
    })
  )

  liveTest(
    "sets the header and the characters of webhook secrets by flags",
    Effect.gen(function* () {
      const { getOk } = yield* startJson("--secret-header", "X-Other-Secret", "--secret-characters", "_-")
      assert.deepStrictEqual(yield* getOk("/webhooks"), { secret_header: "X-Other-Secret", secret_characters: "_-" })
    })
  )

  liveTest(
    "creates the users and chats of a seed file",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "seed.json")
      const seed = {
        users: [{ user_id: 1, first_name: "Ann" }],
        chats: [{ type: "chat", chat_id: -9, title: "Club", members: [1], messages: [{ user_id: 1, text: "hi" }] }]
      }
      writeFileSync(path, JSON.stringify(seed))
      const { asBot, getOk } = yield* startJson("--seed", path)
      assert.strictEqual((yield* asBot("GET", "/chats/-9")).body.title, "Club")
      assert.strictEqual((yield* getOk("/chats/-9/messages")).messages[0].body.text, "hi")
    })
  )

  liveTest(
    "enforces the documented limits by default, the limits of --limits, or none with --lenient",
    Effect.gen(function* () {
      const rejections = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { asBot } = yield* startJson("--virtual-time", ...args)
          const count = (path: string) =>
            Effect.map(
              Effect.replicateEffect(asBot("GET", path), 31),
              (all) => all.filter(({ status }) => status === 429).length
            )
          return [yield* count("/updates?timeout=0"), yield* count("/me")]
        })
      assert.deepStrictEqual(yield* rejections(), [29, 3])
      assert.deepStrictEqual(yield* rejections("--limits", "10,2,2"), [29, 23])
      assert.deepStrictEqual(yield* rejections("--limits", "1000,1000,1000,1000"), [0, 0])
      assert.deepStrictEqual(yield* rejections("--limits", "1000,2,2,5"), [26, 0])
      assert.deepStrictEqual(yield* rejections("--lenient"), [0, 0])
    })
  )

  liveTest(
    "advances its clock by a day with --virtual-time",
    Effect.gen(function* () {
      const { asBot, postOk, getOk } = yield* startJson("--virtual-time")
      const { now } = yield* getOk("/clock")
      const { user_id } = yield* postOk("/users", { first_name: "Ann" })
      yield* postOk("/start", { user_id })
      assert.strictEqual((yield* postOk("/clock", { advance_ms: 86_400_000 })).now, now + 86_400_000)
      assert.deepStrictEqual((yield* asBot("GET", "/updates?timeout=0")).body.updates, [])
      assert.deepStrictEqual((yield* getOk("/seen?wait_ms=20")).seen, [])
    })
  )

  liveTest(
    "retries webhooks at exact times with --virtual-time, and ends the subscription after eight hours",
    Effect.gen(function* () {
      const received: Array<string> = []
      const server = createServer((request, response) => {
        request.resume().on("end", () => {
          received.push(request.url!)
          response.writeHead(500).end()
        })
      })
      const port = yield* listen(server)
      const { asBot, postOk, getOk } = yield* startJson("--virtual-time", "--lenient")
      const url = `http://127.0.0.1:${port}/updates`
      assert.deepStrictEqual((yield* asBot("POST", "/subscriptions", { url })).body, { success: true })
      const { user_id } = yield* postOk("/users", { first_name: "Ann" })
      yield* postOk("/start", { user_id })
      yield* postOk("/clock", { advance_ms: 8 * 3600 * 1000 })
      const { deliveries } = yield* getOk("/deliveries")
      const [first] = deliveries
      const seconds = deliveries.map(({ at }: Json) => (at - first.at) / 1000)
      assert.deepStrictEqual(
        seconds.map((second: number) => Math.round(second * 10) / 10),
        [0, 60, 210, 585, 1522.5, 3866.3, 9725.6, 24374.1]
      )
      assert.lengthOf(received, 8)
      assert.deepStrictEqual((yield* asBot("GET", "/subscriptions")).body, { subscriptions: [] })
    })
  )

  liveTest(
    "delivers https:// updates to the server of --webhook-to if --webhook-ca trusts its authority",
    Effect.gen(function* () {
      const root = yield* makeAuthority("Root")
      const { key, pem } = yield* makeHost("bot.example", root)
      const path = join(yield* temporaryFolder, "root.pem")
      writeFileSync(path, root.pem)
      const received: Array<string | undefined> = []
      const server = createSecure({ cert: pem, key }, (request, response) => {
        received.push(request.headers.host)
        request.resume().on("end", () => response.end())
      })
      const port = yield* listen(server)
      const to = ["--webhook-to", `127.0.0.1:${port}`]
      const outcomes = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { asBot, postOk, getOk } = yield* startJson("--virtual-time", ...to, ...args)
          yield* asBot("POST", "/subscriptions", { url: "https://bot.example/updates" })
          const { user_id } = yield* postOk("/users", { first_name: "Ann" })
          yield* postOk("/start", { user_id })
          yield* postOk("/clock", { advance_ms: 1000 })
          const { deliveries } = yield* getOk("/deliveries")
          return deliveries.map(({ failure, status }: Json) => status ?? failure)
        })
      assert.deepStrictEqual(yield* outcomes("--webhook-ca", path), [200])
      assert.deepStrictEqual(received, ["bot.example"])
      assert.deepStrictEqual(yield* outcomes(), ["Untrusted"])
    })
  )

  liveTest(
    "replays a recorded journal with the same ids and texts, and returns all updates to a new bot",
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "journal.ndjson")
      const first = yield* startJson("--record", path)
      const ann = yield* first.postOk("/users", { first_name: "Ann" })
      const { user_id } = ann
      const greeting = yield* first.postOk("/messages", { user_id, text: "hi" })
      const keyboard = { type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes" }]] } }
      const asked = yield* first.asBot("POST", `/messages?user_id=${user_id}`, { text: "?", attachments: [keyboard] })
      const message_id = asked.body.message.body.mid
      yield* first.postOk("/press", { user_id, message_id, button: "Yes" })
      const address = (yield* first.asBot("POST", "/uploads?type=file")).body.url as string
      const form = new FormData()
      form.append("data", new Blob(["notes"]), "notes.txt")
      const uploaded = yield* Effect.promise(async () => (await fetch(address, { method: "POST", body: form })).json())
      const { token } = uploaded as { readonly token: string }
      yield* first.asBot("GET", "/updates?timeout=0")
      const messagesPath = `/chats/${greeting.recipient.chat_id}/messages`
      const { messages } = yield* first.getOk(messagesPath)
      const { updates } = yield* first.getOk("/updates")
      yield* first.kill("SIGTERM")
      assert.strictEqual((yield* first.exited).code, 0)

      const second = yield* startJson("--replay", path, "--virtual-time")
      assert.deepStrictEqual((yield* second.getOk(messagesPath)).messages, messages)
      assert.deepStrictEqual((yield* second.asBot("GET", "/updates?timeout=0")).body.updates, updates)
      const file = { attachments: [{ type: "file", payload: { token } }] }
      yield* second.postOk("/clock", { advance_ms: 60_000 })
      const sent = yield* second.asBot("POST", `/messages?user_id=${user_id}`, file)
      assert.strictEqual(sent.body.message?.body.attachments[0].filename, "notes.txt")
      yield* second.kill("SIGTERM")
      assert.deepStrictEqual(yield* Effect.map(second.exited, ({ code, stderr }) => [code, stderr]), [0, ""])
      assert.isAbove(readFileSync(path, "utf8").split("\n").length, 7)
    })
  )

  liveTest(
    "prints an invalid flag or file in one line, and exits with 2",
    Effect.gen(function* () {
      const files = yield* temporaryFolder
      const writeFile = (name: string, text: string) => {
        const path = join(files, name)
        writeFileSync(path, text)
        return path
      }
      const broken = writeFile("broken.json", `{\n  "users": }`)
      const wrong = writeFile("wrong.json", `{"users":[{"first_name":"Ann","user_id":"one"}]}`)
      const empty = writeFile("empty.json", "")
      const misspelt = writeFile("misspelt.json", `{"user":[{"first_name":"Ann"}]}`)
      const misspeltWithin = writeFile("within.json", `{"chats":[{"type":"chat","mesages":[]}]}`)
      const journal = writeFile("journal.ndjson", `{"journal":1,"started_at":1,"tokens":[]}\n\n{"n":0}\n`)
      const usedPort = String(yield* listen(createServer()))
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [["--nonsense"], "--nonsense"],
        [["extra"], "extra"],
        [["--port", "many"], "--port"],
        [["--port", "70000"], "--port 70000: must be from 0 to 65535"],
        [["--port", usedPort], "the address is in use"],
        [["--limits", "30,2"], "--limits 30,2: must be three or four integers"],
        [["--strict", "--lenient"], "--strict and --lenient"],
        [["--token", "a", "--token", "a"], "--token"],
        [["--seed", join(files, "none")], "no such file"],
        [["--upload-ports", "8081,8082"], "--upload-ports 8081,8082: must be four ports"],
        [["--port", "8081", "--upload-ports", "8081,8082,8083,8084"], "the ports must be different"],
        [["--upload-ports", `${usedPort},8082,8083,8084`], `127.0.0.1:${usedPort}: the address is in use`],
        [["--seed", broken], `${broken}: is not JSON: SyntaxError: `],
        [["--seed", wrong], "users[0].user_id: must be a number"],
        [["--seed", empty], `${empty}: is empty`],
        [["--seed", misspelt], `${misspelt}: user: is not a field of this request`],
        [["--seed", misspeltWithin], "chats[0].mesages: is not a field of this request"],
        [["--webhook-ca", join(files, "none")], "no such file"],
        [["--webhook-ca", broken], "is not a PEM certificate"],
        [["--secret-header", "X Secret"], "--secret-header X Secret: must be the name of an HTTP header"],
        [["--secret-characters", "_ "], "--secret-characters _ : must be visible ASCII characters"],
        [["--webhook-to", "8443"], "--webhook-to 8443: must be a host and a port"],
        [["--webhook-to", "localhost:0"], "--webhook-to localhost:0"],
        [["--replay", wrong], "line 1"],
        [["--replay", journal], "line 3"],
        [["--replay", broken], "line 1: is not JSON"],
        ...(existsSync(fullDevice)
          ? [[["--record", fullDevice], `--record ${fullDevice}: no space left on the device`] as const]
          : []),
        [["--record", join(files, "no", "journal")], "no such file"]
      ]
      const exits = yield* Effect.forEach(cases, ([args]) => run(...args), { concurrency: 2 })
      exits.forEach(({ code, stderr, stdout }, index) => {
        const [args, problem] = cases[index]
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        assert.match(stderr, /^colloquy-emulator: [^\n]+\n$/, args.join(" "))
        assert.include(stderr, problem)
      })
    })
  )
})
