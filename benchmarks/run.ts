/**
 * `npm run bench`: every figure, as a table. `npm run bench -- NAME --json`: one figure, as a line of JSON.
 */
import { figures } from "./src/figures.ts"
import type { Figure, Measured } from "./src/figure.ts"

const args = process.argv.slice(2)
const isJson = args.includes("--json")
const names = args.filter((arg) => !arg.startsWith("--"))

const unknown = names.filter((name) => !figures.some(({ figure }) => figure === name))
if (unknown.length > 0) {
  console.error(
    `There is no figure ${unknown.join(", ")}. There are: ${figures.map(({ figure }) => figure).join(", ")}.`
  )
  process.exit(2)
}

const chosen = names.length === 0 ? figures : figures.filter(({ figure }) => names.includes(figure))

const verdict = ({ also, isMinimum = false, goal }: Figure, measured: Measured) =>
  (isMinimum ? measured.value >= goal : measured.value <= goal) &&
  (also === undefined || (measured.also ?? Infinity) <= also.goal)
    ? "met"
    : "missed"

const rounded = (value: number) => Number(value.toFixed(value < 0.1 ? 4 : 2))

const report = (figure: Figure, measured: Measured) => {
  const { also, goal, unit } = figure
  const value = rounded(measured.value)
  const second =
    also === undefined || measured.also === undefined ? {} : { also: { ...also, value: rounded(measured.also) } }
  if (isJson) return console.log(JSON.stringify({ figure: figure.figure, value, unit, goal, ...second }))
  const columns = [figure.figure.padEnd(28), value.toFixed(2).padStart(8), goal.toFixed(2).padStart(9)]
  const detail = second.also === undefined ? "" : `; ${second.also.name} ${second.also.value} of ${second.also.goal}`
  console.log([...columns, ` ${verdict(figure, measured)}`.padEnd(9), ` ${measured.detail}${detail}`].join(" "))
}

if (!isJson) console.log(`${"figure".padEnd(28)}    value     goal`)
for (const figure of chosen) report(figure, await figure.measure())
