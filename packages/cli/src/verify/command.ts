import * as Settings from "@colloquy/core/client/Settings"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { action } from "../base/commands.ts"
import { asBot } from "../base/client.ts"
import { failed, writing } from "../base/failure.ts"
import { optional } from "../base/flags.ts"
import { count, print, printText } from "../base/output.ts"
import { Process } from "../base/settings.ts"
import { type Finding, verify } from "./verify.ts"

const isUpgrade = ({ grade, result }: Finding): boolean => result === "confirmed" && grade !== "A"

const marks = { confirmed: "ok      ", differs: "differs ", unclear: "unclear " } as const

const colors = { confirmed: "green", differs: "red", unclear: "yellow" } as const

const describe = (finding: Finding): string => {
  const { assumption, detail, fact, grade, result } = finding
  const upgrade = isUpgrade(finding) ? `: grade ${grade} becomes A, seen in real traffic` : ""
  return `${marks[result]} ${assumption}${upgrade}${detail === undefined ? "" : `: ${detail}`}\n         ${fact}`
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

/** The report as a table, as docs/assumptions.md has one. */
const toMarkdown = (findings: ReadonlyArray<Finding>): string =>
  [
    "| Assumption | Result | Grade | Observed |",
    "|---|---|---|---|",
    ...findings.map((finding) => {
      const grade = isUpgrade(finding) ? `${finding.grade} → A` : finding.grade
      return `| \`${finding.assumption}\` | ${finding.result} | ${grade} | ${cell(finding.detail ?? "")} |`
    }),
    ""
  ].join("\n")

const order = ["differs", "unclear", "confirmed"]

const run = Effect.fnUntraced(function* (chat_id: number, report: string | undefined) {
  const { baseUrl, token } = yield* Settings.all(Settings.bot)
  yield* printText("Tries the assumptions in the chat, which takes one to two minutes. Do not use the chat meanwhile.")
  const found = yield* verify({ baseUrl, token, chat_id })
  const findings = found.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result))
  for (const finding of findings) {
    yield* print({ ...finding, upgrade: isUpgrade(finding) }, describe(finding), colors[finding.result])
  }
  if (report !== undefined) {
    const { cwd } = yield* Process
    yield* writing(report, () => writeFileSync(resolve(cwd, report), toMarkdown(findings)))
  }
  const differing = findings.filter(({ result }) => result === "differs").length
  if (differing > 0) {
    return yield* failed(`The platform differs from ${count(differing, "assumption")} of ${findings.length}.`)
  }
  yield* printText(
    `The platform confirms ${count(findings.filter(({ result }) => result === "confirmed").length, "assumption")} of ${findings.length}.`
  )
})

/** Compares the platform with the assumptions of the library. */
export const verifyPlatform = action(
  "verify-platform",
  "Tries the assumptions about the platform that one bot can observe in a test chat, and removes what was sent. Exit code 1: the platform differs",
  {
    chat: Flag.Int("chat").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("A chat for tests, in which the bot is an administrator")
    ),
    report: Flag.String("report").pipe(
      Flag.withMetavar("FILE"),
      optional("Writes the findings as a Markdown table into this file")
    )
  },
  ({ chat, report }) => asBot(run(chat, report))
)
