import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { files, root, run } from "../scripts/internal/workspace.ts"
import { programOf } from "./support/grafana.ts"
import { fencesOf, firstLine, replyOn, start } from "./support/readme.ts"

const operations = join(root, "docs/operations")

interface Panel {
  readonly title: string
  readonly type: string
  readonly description?: string
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly thresholds?: { readonly steps: ReadonlyArray<unknown> } }
  }
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const { panels } = JSON.parse(readFileSync(join(operations, "dashboard.json"), "utf8")) as {
  readonly panels: ReadonlyArray<Panel>
}

/** The queries of the panels for the bots of a job. */
const queriesOf = (job: string) =>
  panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll("$job", job).replaceAll("$__rate_interval", "1m"))
  )

const queries = queriesOf(".*")

const rules = readFileSync(join(operations, "alerts.yml"), "utf8")

const alerts = [...rules.matchAll(/- alert: (\w+)$/gm)].map(([, name]) => name)

const namesIn = (text: string) =>
  [...text.matchAll(/\b(colloquy_[a-z_]+?)(_bucket)?\b(?=[{[\s)])/g)].map(([, name]) => name)

describe("The alerts and the dashboard", () => {
  it("use only metrics that the packages have", () => {
    const documented = new Set(
      files("docs/*.md").flatMap(({ text }) => [...text.matchAll(/`(colloquy_[a-z_]+)`/g)].map(([, name]) => name))
    )
    const used = namesIn([rules, ...queries].join("\n"))
    assert.isAbove(used.length, 20)
    assert.deepStrictEqual(
      used.filter((name) => !documented.has(name)),
      []
    )
  })

  it("are described in docs/operations.md, alert by alert", () => {
    const page = readFileSync(join(root, "docs/operations.md"), "utf8")
    assert.deepStrictEqual(
      [...page.matchAll(/^\| `([A-Z][a-z]\w+)` \|/gm)].map(([, name]) => name),
      alerts
    )
  })

  it("lead from each alert to a section of docs/operations.md", () => {
    const page = readFileSync(join(root, "docs/operations.md"), "utf8")
    const sections = [...page.matchAll(/^###? (.*)$/gm)].map(([, title]) => title.toLowerCase().replaceAll(" ", "-"))
    const links = [...rules.matchAll(/runbook_url: \S+#(\S+)$/gm)].map(([, anchor]) => anchor)
    assert.strictEqual(links.length, alerts.length)
    for (const link of links) assert.include(sections, link)
  })

  it("select the bot in each query", () => {
    for (const query of queries) assert.notMatch(query, /(?:colloquy_\w+|\bup)(?!\w|\{[^}]*job=~)/, query)
    for (const [expression] of rules.matchAll(/^ *expr:(?:.*|\n(?! *(?:for|labels)))+$/gm))
      assert.match(expression, /by \(job|job=~/, expression)
  })

  it("have a description and a unit for each panel, and thresholds for each tile", () => {
    for (const { description, fieldConfig, title, type } of panels.filter(({ type }) => type !== "row")) {
      assert.isAbove((description ?? "").length, 20, title)
      assert.isString(fieldConfig?.defaults.unit, title)
      if (type === "stat") assert.isAbove(fieldConfig?.defaults.thresholds?.steps.length ?? 0, 0, title)
    }
  })

  it("have the types of Grafana's schema", ({ onTestFinished }) => {
    // The folder is where the types of Grafana are installed.
    const folder = mkdtempSync(join(root, "tools/checks/.fences-dashboard-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const dashboard = JSON.stringify(JSON.parse(readFileSync(join(operations, "dashboard.json"), "utf8")))
    const altered = [
      ['"gridPos"', '"gridPosition"'],
      ['"mode":"absolute"', '"mode":"fixed"'],
      ['"unit":"short"', '"unit":1'],
      ['"colorMode":"value"', '"colorMode":"text"'],
      ['"type":"timeseries"', '"type":"graph"'],
      ['"includeAll":true', '"includeAll":"yes"'],
      ['"refId":"A",', ""],
      ['"schemaVersion":39,', ""]
    ].map(([from, to]) => {
      assert.include(dashboard, from)
      return dashboard.replace(from, to)
    })
    writeFileSync(join(folder, "dashboard.ts"), programOf(dashboard, altered))
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--ignoreConfig",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler"
    ]
    const { ok, output } = run("npx", ["tsc", ...options, join(folder, "dashboard.ts")])
    assert.isTrue(ok, output)
  })

  it("have panels that do not overlap", () => {
    const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`)
    )
    assert.strictEqual(new Set(cells).size, cells.length)
  })
})

// What a bot has only if several processes, or a platform that is out of order for long, get in each other's way.
const rare = [
  "colloquy_state_conflicts_total",
  "colloquy_journal_replayed_total",
  "colloquy_journal_uncertain_total",
  "colloquy_limiter_rejected_total",
  "colloquy_webhook_resubscribed_total"
]

const common = queries.filter((query) => !rare.some((name) => query.includes(name)))

const isMissing = !run("prometheus", ["--version"]).ok
if (isMissing)
  console.log("The tests with Prometheus are skipped: there is no prometheus (Debian: apt-get install prometheus).")

/** A port that is not in use. It is below the ports that systems choose, so no other program gets it meanwhile. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = createServer()
    server.on("error", () => resolve(freePort()))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)))
  })

/** Waits until nothing is missing. */
const untilNone = async (missing: () => Promise<ReadonlyArray<string>>): Promise<void> => {
  let last: ReadonlyArray<string> = []
  for (const deadline = Date.now() + 200_000; Date.now() < deadline; await sleep(500)) {
    last = await missing().catch((cause) => [String(cause)])
    if (last.length === 0) return
  }
  assert.deepStrictEqual(last, [])
}

/** The series of a bot in trouble and of a bot without, by the alert that fires. Each step is a minute. */
const conditions: Readonly<Record<string, readonly [bad: Series, good: Series]>> = {
  BotDown: [{ up: "0" }, { up: "1" }],
  SubscriptionMissing: [{ colloquy_webhook_subscribed: "0" }, { colloquy_webhook_subscribed: "1" }],
  UpdatesWait: [{ colloquy_inbox_oldest_age_seconds: "400" }, { colloquy_inbox_oldest_age_seconds: "200" }],
  InboxFills: [{ colloquy_inbox_queued: "60000" }, { colloquy_inbox_queued: "40000" }],
  DeadLetters: [{ colloquy_inbox_dead_letters: "1" }, { colloquy_inbox_dead_letters: "0" }],
  HandlersFail: [
    { colloquy_updates_failed_total: "0+1x60", colloquy_updates_handled_total: "0+10x60" },
    { colloquy_updates_failed_total: "0+1x60", colloquy_updates_handled_total: "0+100x60" }
  ],
  TokenRejected: [
    { 'colloquy_requests_total{status="401"}': "0+1x60" },
    { 'colloquy_requests_total{status="200"}': "0+1x60" }
  ],
  PlatformFails: [
    { 'colloquy_requests_total{status="500"}': "0+2x60", 'colloquy_requests_total{status="200"}': "0+10x60" },
    { 'colloquy_requests_total{status="500"}': "0+1x60", 'colloquy_requests_total{status="200"}': "0+100x60" }
  ],
  RateLimited: [{ colloquy_limiter_rate_limited_total: "0+1x60" }, { colloquy_limiter_rate_limited_total: "0+0x60" }],
  DeliveriesRejected: [
    { 'colloquy_webhook_rejected_total{status="503"}': "0+2x60" },
    { 'colloquy_webhook_rejected_total{status="404"}': "0+2x60" }
  ],
  CallsUncertain: [
    { 'colloquy_journal_uncertain_total{outcome="repeated"}': "0+1x60" },
    { 'colloquy_journal_uncertain_total{outcome="known"}': "0+1x60" }
  ]
}

type Series = Readonly<Record<string, string>>

const seriesOf = (job: string, series: Series) =>
  Object.entries(series).map(([name, values]) => ({
    series: name.includes("{") ? name.replace("{", `{job="${job}",`) : `${name}{job="${job}"}`,
    values: values.includes("x") ? values : `${values}x60`
  }))

describe.skipIf(isMissing && process.env["PROMETHEUS_TESTS"] !== "required")("Prometheus, with two bots", () => {
  it("fires each alert for the bot in trouble, and none for the other", ({ onTestFinished }) => {
    assert.deepStrictEqual(Object.keys(conditions), alerts)
    const folder = mkdtempSync(join(tmpdir(), "colloquy-alerts-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(join(operations, "alerts.yml"), join(folder, "alerts.yml"))
    const jobs = ["bot-one", "bot-two"]
    const tests = Object.entries(conditions).flatMap(([alert, [bad, good]]) =>
      jobs.map((job) => ({
        name: `${alert} of ${job}`,
        interval: "1m",
        input_series: jobs.flatMap((each) => seriesOf(each, each === job ? bad : good)),
        promql_expr_test: [
          {
            expr: 'count by (alertname, job) (ALERTS{alertstate="firing"})',
            eval_time: "40m",
            exp_samples: [{ labels: `{alertname="${alert}", job="${job}"}`, value: 1 }]
          }
        ]
      }))
    )
    // JSON is YAML.
    writeFileSync(
      join(folder, "tests.yml"),
      JSON.stringify({ rule_files: ["alerts.yml"], evaluation_interval: "1m", tests })
    )
    const { ok, output } = run("promtool", ["test", "rules", join(folder, "tests.yml")])
    assert.isTrue(ok, output)
  })
})

describe.skipIf(isMissing && process.env["PROMETHEUS_TESTS"] !== "required")("Prometheus, with a bot", () => {
  const ends: Array<() => void> = []
  let folder = ""
  let prometheus = ""

  const ask = async <A>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<A> => {
    const response = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const { data, error } = (await response.json()) as { readonly data: A; readonly error?: string }
    assert.isUndefined(error, `${JSON.stringify(parameters)}: ${error}`)
    return data
  }

  const resultOf = async (query: string) =>
    (await ask<{ readonly result: ReadonlyArray<{ readonly value: [number, string] }> }>("query", { query })).result

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-operations-"))
    const [botPort, prometheusPort] = [await freePort(), await freePort()]
    const source = ["--conditions=source", "--no-warnings"]
    const emulator = start(
      process.execPath,
      [...source, join(root, "packages/testing/src/bin.ts"), "--json", "--lenient"],
      folder,
      (end) => ends.push(end)
    )
    const { token, url } = JSON.parse(await firstLine(emulator)) as { readonly token: string; readonly url: string }
    const control = async (path: string, body: unknown, method = "POST") => {
      const response = await fetch(`${url}/_emulator${path}`, { method, body: JSON.stringify(body) })
      assert.strictEqual(response.status, 200, await response.clone().text())
      return (await response.json()) as { readonly user_id: number }
    }
    const webhook = `http://127.0.0.1:${botPort}`
    const settings = {
      BOT_TOKEN: token,
      BOT_BASE_URL: url,
      BOT_INBOX: join(folder, "bot.sqlite"),
      BOT_WEBHOOK_URL: `${webhook}/updates`,
      BOT_WEBHOOK_INSECURE: "true",
      BOT_WEBHOOK_HOST: "127.0.0.1",
      BOT_WEBHOOK_PORT: String(botPort),
      BOT_WEBHOOK_METRICS_PATH: "/metrics"
    }
    const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    const program = join(root, "examples/src/webhook.ts")
    const bot = start("env", [...assignments, process.execPath, ...source, program], folder, (end) => ends.push(end))
    await untilNone(async () => ((await fetch(`${webhook}/health/ready`)).ok ? [] : [bot.output()]))

    cpSync(join(operations, "alerts.yml"), join(folder, "alerts.yml"))
    const config = readFileSync(join(operations, "prometheus.yml"), "utf8")
      .replace("scrape_interval: 15s", "scrape_interval: 1s\n    scrape_timeout: 1s")
      .replace("127.0.0.1:8080", `127.0.0.1:${botPort}`)
    writeFileSync(join(folder, "prometheus.yml"), `global: { evaluation_interval: 1s }\n${config}`)
    prometheus = `http://127.0.0.1:${prometheusPort}`
    start(
      "prometheus",
      ["--config.file=prometheus.yml", "--storage.tsdb.path=data", `--web.listen-address=127.0.0.1:${prometheusPort}`],
      folder,
      (end) => ends.push(end)
    )

    const people = await Promise.all(
      ["Ann", "Ben", "Cid", "Dee"].map((first_name) => control("/users", { first_name }))
    )
    for (const { user_id } of people) await control("/start", { user_id })
    await control(
      "/faults",
      [
        { endpoint: "Messages.send", probability: 0.2, seed: 1, status: 400 },
        { endpoint: "Messages.send", every: 10, status: 429, headers: { "retry-after": "1" } },
        { update_type: "message_created", every: 5, delivery: "duplicate" }
      ],
      "PUT"
    )
    // A rate begins with the second scrape of a counter, so everything happens until all rates are known.
    await untilNone(async () => {
      for (const { user_id } of people) await control("/messages", { user_id, text: "Hello" })
      await fetch(`${webhook}/updates`, { method: "POST", body: "{}" })
      const results = await Promise.all(
        common.map(async (query) => (await resultOf(query)).some(({ value: [, value] }) => value !== "NaN"))
      )
      return common.filter((_, at) => !results[at])
    })
  })

  afterAll(() => {
    for (const end of ends) end()
    rmSync(folder, { recursive: true, force: true })
  })

  it("evaluates every query of the dashboard", async () => {
    // `ask` fails if Prometheus rejects a query.
    const results = await Promise.all(queries.map(resultOf))
    const empty = queries.filter((_, at) => results[at].length === 0)
    assert.deepStrictEqual(
      empty.filter((query) => common.includes(query)),
      []
    )
  })

  it("shows nothing of the bot in the panels of another bot", async () => {
    const others = queriesOf("another-bot")
    const results = await Promise.all(others.map(resultOf))
    assert.deepStrictEqual(
      others.filter((_, at) => results[at].length > 0),
      []
    )
  })

  const loadedRules = async () => {
    const { groups } = await ask<{
      readonly groups: ReadonlyArray<{
        readonly rules: ReadonlyArray<{ readonly name: string; readonly health: string; readonly state: string }>
      }>
    }>("rules")
    return groups.flatMap(({ rules }) => rules)
  }

  it("loads every alert, and fires the one about dead letters", async () => {
    await untilNone(async () =>
      (await loadedRules()).filter(({ name, state }) => name === "DeadLetters" && state !== "firing").map(String)
    )
    const loaded = await loadedRules()
    assert.deepStrictEqual(
      loaded.map(({ name }) => name),
      alerts
    )
    assert.deepStrictEqual([...new Set(loaded.map(({ health }) => health))], ["ok"])
    assert.strictEqual(loaded.find(({ name }) => name === "BotDown")?.state, "inactive")
  })
})

describe("The program with OpenTelemetry in docs/operations.md", () => {
  it("exports spans, metrics and logs", async ({ onTestFinished }) => {
    const received = new Map<string, string>()
    const collector = createHttpServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (part: string) => (body += part))
      request.on("end", () => {
        received.set(request.url!, (received.get(request.url!) ?? "") + body)
        response.setHeader("content-type", "application/json").end("{}")
      })
    }).listen(0, "127.0.0.1")
    await new Promise((resolve) => collector.once("listening", resolve))
    onTestFinished(() => void collector.close())
    const folder = mkdtempSync(join(root, ".fences-otlp-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))

    const [program, exports] = fencesOf("OpenTelemetry", "docs/operations.md")
    writeFileSync(join(folder, "bot.ts"), program.text)
    const emulator = start(
      process.execPath,
      ["--conditions=source", "--no-warnings", join(root, "packages/testing/src/bin.ts"), "--json"],
      folder,
      onTestFinished
    )
    const { token, url } = JSON.parse(await firstLine(emulator)) as { readonly token: string; readonly url: string }
    const port = (collector.address() as AddressInfo).port
    const settings = `export BOT_TOKEN=${token} BOT_BASE_URL=${url}\n${exports.text.replace(":4318", `:${port}`)}`
    const bot = start(
      "bash",
      ["-c", `${settings}\nexec "$0" --conditions=source --no-warnings bot.ts`, process.execPath],
      folder,
      onTestFinished
    )
    assert.strictEqual(await replyOn(url, "Good morning"), "Hello", bot.output())
    bot.child.kill("SIGTERM")
    await new Promise((resolve) => bot.child.once("exit", resolve))
    assert.include(received.get("/v1/traces"), '"Updates.handle"')
    assert.include(received.get("/v1/traces"), '"Messages.send"')
    assert.include(received.get("/v1/metrics"), '"colloquy_updates_handled_total"')
    assert.include(received.get("/v1/traces"), '"my-bot"')
    assert.notInclude([...received.values()].join(), token)
  })
})
