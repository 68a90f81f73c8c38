/**
 * `npm run bench`: every figure, as a table. `npm run bench -- NAME …`: some figures. `--json` prints a line of JSON for
 * each, `--markdown` the table of docs/performance.md.
 */
import type { Figure, Measured } from "./src/figure.ts"
import { figures } from "./src/figures.ts"

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith("--"))

const unknown = names.filter((name) => !figures.some(({ figure }) => figure === name))
if (unknown.length > 0) {
  console.error(
    `Unknown figure: ${unknown.join(", ")}. Known figures: ${figures.map(({ figure }) => figure).join(", ")}.`
  )
  process.exit(2)
}

const chosen = names.length === 0 ? figures : figures.filter(({ figure }) => names.includes(figure))

const isMet = ({ also, goal, isMinimum = false }: Figure, measured: Measured): boolean =>
  (isMinimum ? measured.value >= goal : measured.value <= goal) &&
  (also === undefined || (measured.also ?? Infinity) <= also.goal)

const rounded = (value: number): number => Number(value.toFixed(value < 0.1 ? 4 : 2))

const alsoOf = ({ also }: Figure, measured: Measured) =>
  also === undefined || measured.also === undefined ? undefined : { ...also, value: rounded(measured.also) }

interface Format {
  readonly head: ReadonlyArray<string>
  readonly line: (figure: Figure, measured: Measured) => string
}

const json: Format = {
  head: [],
  line: (figure, measured) => {
    const also = alsoOf(figure, measured)
    const { figure: name, goal, unit } = figure
    return JSON.stringify({
      figure: name,
      value: rounded(measured.value),
      unit,
      goal,
      ...(also === undefined ? {} : { also })
    })
  }
}

const table: Format = {
  head: [`${"figure".padEnd(28)}    value     goal`],
  line: (figure, measured) => {
    const also = alsoOf(figure, measured)
    return [
      figure.figure.padEnd(28),
      rounded(measured.value).toFixed(2).padStart(8),
      figure.goal.toFixed(2).padStart(9),
      ` ${isMet(figure, measured) ? "met" : "missed"}`.padEnd(8),
      ` ${measured.detail}${also === undefined ? "" : `; ${also.name} ${also.value} of ${also.goal}`}`
    ].join(" ")
  }
}

const markdown: Format = {
  head: ["| figure | measures | value | goal |", "|---|---|---|---|"],
  line: (figure, measured) => {
    const also = alsoOf(figure, measured)
    const { figure: name, goal, isMinimum = false, measures, unit } = figure
    const suffix = unit === "ratio" ? "" : ` ${unit}`
    const value = `${rounded(measured.value)}${suffix}${also === undefined ? "" : `; ${also.value} ${also.name}`}`
    const bound = `${isMinimum ? "≥" : "≤"} ${goal}${also === undefined ? "" : `; ≤ ${also.goal}`}`
    return `| \`${name}\` | ${measures} | ${isMet(figure, measured) ? value : `**${value}** (missed)`} | ${bound} |`
  }
}

const format = args.includes("--json") ? json : args.includes("--markdown") ? markdown : table

for (const line of format.head) console.log(line)
for (const figure of chosen) console.log(format.line(figure, await figure.measure()))
