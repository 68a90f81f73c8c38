import { useEffect, useRef, useState } from "preact/hooks"
import { Button, Submit } from "../parts/Button.tsx"
import { Choice, Input, valuesOf } from "../parts/Field.tsx"
import { preciseTime } from "../parts/format.ts"
import { CountedHeading } from "../parts/rows.tsx"
import { faultText } from "../parts/faultText.ts"
import { act, faults, shownRule, struck } from "../store.ts"
import type { Faults } from "../types.ts"

type Rule = Faults[number]["rule"]

const effects = {
  status: "Answer with a status",
  delay: "Delay the response",
  reset: "Reset the connection",
  truncate: "Cut the response off",
  drop: "Do not deliver an update",
  duplicate: "Deliver an update twice"
} as const

type Effect = keyof typeof effects

const isDelivery = (effect: Effect): boolean => effect === "drop" || effect === "duplicate"

/** The fields of a rule that are texts. The others are numbers. */
const texts: ReadonlySet<string> = new Set(["endpoint", "update_type", "code", "reset"])

/** The rule of the form, whose fields have the names of the fields of a rule. */
const ruleOf = (effect: Effect, values: Readonly<Record<string, string>>): Record<string, unknown> => {
  const fields = Object.entries(values).map(([name, value]) => [name, texts.has(name) ? value : Number(value)])
  return { ...Object.fromEntries(fields), ...(isDelivery(effect) ? { delivery: effect } : {}) }
}

const moments = [
  ["before", "before the request is executed"],
  ["after", "after the request is executed"]
] as const

const Effects = ({ effect }: { readonly effect: Effect }) => {
  switch (effect) {
    case "status":
      return (
        <>
          <Input label="Status" name="status" type="number" min="200" max="599" required value={503} />
          <Input label="Code" hint="Default: that of the status" name="code" placeholder="too.many.requests" />
        </>
      )
    case "delay":
      return <Input label="Milliseconds" name="delay" type="number" min="0" required value={3000} />
    case "reset":
      return <Choice label="When" name="reset" options={moments} />
    case "truncate":
      return <Input label="Characters that are sent" name="truncate" type="number" min="0" required value={10} />
    default:
      return null
  }
}

const presets: ReadonlyArray<readonly [label: string, rule: Rule]> = [
  ["429 for 10 s", { status: 429, lasts: 10_000 }],
  ["Platform down", { status: 503 }],
  ["Slow", { delay: 3000 }],
  ["Every second delivery twice", { delivery: "duplicate", every: 2 }]
]

const RuleRow = ({ fault, onRemove }: { readonly fault: Faults[number]; readonly onRemove: () => void }) => {
  const row = useRef<HTMLLIElement>(null)
  const { applied, is_over, matched, rule } = fault
  const isMarked = shownRule.value === JSON.stringify(rule)
  useEffect(() => {
    if (!isMarked) return
    row.current?.scrollIntoView({ block: "nearest" })
    row.current?.querySelector("button")?.focus({ preventScroll: true })
  }, [isMarked])
  return (
    <li class={isMarked ? "log-row marked" : "log-row"} ref={row}>
      <p>{faultText(rule)}</p>
      <div class="row">
        <small>
          applied {applied} of {matched}
          {is_over === true ? ", over" : ""}
        </small>
        <Button class="danger" onClick={onRemove}>
          Remove
        </Button>
      </div>
    </li>
  )
}

/** Adds faults, and shows their targets. */
export const FaultsTool = () => {
  const [effect, setEffect] = useState<Effect>("status")
  const rules = faults.value.filter(({ is_over }) => is_over !== true).map(({ rule }) => rule)
  const save = async (next: ReadonlyArray<Rule | Record<string, unknown>>): Promise<void> => {
    const done = await act("setFaults", { rules: next as never })
    if (done !== undefined) faults.value = (await act("listFaults", undefined))?.faults ?? []
  }
  return (
    <>
      <div class="row">
        {presets.map(([label, rule]) => (
          <Button key={label} onClick={() => void save([...rules, rule])}>
            {label}
          </Button>
        ))}
      </div>
      <details class="box">
        <summary>Another fault</summary>
        <form class="form" onSubmit={(event) => void save([...rules, ruleOf(effect, valuesOf(event))])}>
          <Choice
            label="What happens"
            value={effect}
            options={Object.entries(effects)}
            onChange={({ currentTarget }) => setEffect(currentTarget.value as Effect)}
          />
          <Effects effect={effect} />
          {isDelivery(effect) ? (
            <Input label="Type of update" hint="Empty: all" name="update_type" placeholder="message_created" />
          ) : (
            <Input label="Endpoint" hint="Empty: all requests" name="endpoint" placeholder="Messages.send" />
          )}
          <details>
            <summary>When it applies</summary>
            <Input label="Only the nth match" name="nth" type="number" min="1" />
            <Input label="Every nth match" name="every" type="number" min="1" />
            <Input label="With a probability from 0 to 1" name="probability" type="number" min="0" max="1" step="any" />
            <Input label="At most so many times" name="times" type="number" min="1" />
            <Input label="For so many milliseconds" name="lasts" type="number" min="1" />
            <Input label="Only in the chat with this id" name="chat_id" type="number" />
          </details>
          <Submit>Add the fault</Submit>
        </form>
      </details>
      <CountedHeading title="Faults" count={faults.value.length} />
      {faults.value.length === 0 ? <p class="empty">No faults.</p> : null}
      <ol class="log">
        {faults.value.map((fault, index) => (
          <RuleRow key={index} fault={fault} onRemove={() => void save(rules.filter((rule) => rule !== fault.rule))} />
        ))}
      </ol>
      <CountedHeading title="Applied to" count={struck.value.length} />
      <ol class="log">
        {struck.value.slice(0, 50).map((event) => (
          <li class="log-row flat" key={event.id}>
            <bdi class="path">{event.target}</bdi>
            <small>{preciseTime(event.at)}</small>
          </li>
        ))}
      </ol>
    </>
  )
}
