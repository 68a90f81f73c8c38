import { Button } from "../parts/Button.tsx"
import { useNow } from "../parts/useNow.ts"
import { Input, valuesOf } from "../parts/Field.tsx"
import { dayOf, preciseTime } from "../parts/format.ts"
import { act, clockAt, state } from "../store.ts"

const steps = [
  ["+1 second", 1000],
  ["+1 minute", 60_000],
  ["+1 hour", 3_600_000],
  ["+8 hours", 28_800_000],
  ["+1 day", 86_400_000]
] as const

/** Stops and moves the clock. */
export const ClockTool = () => {
  const now = useNow()
  const { isRunning, isVirtual } = clockAt.value
  const advance = (advance_ms: number) => void act("advanceClock", { advance_ms })
  return (
    <>
      <p class="clock-face" role="timer">
        <b>{preciseTime(now).slice(0, 8)}</b>
        <small>
          {dayOf(now)}, {isRunning ? "running" : "stopped"}
        </small>
      </p>
      {isVirtual ? (
        <>
          <div class="row">
            <Button class="primary" onClick={() => void act("advanceClock", { running: !isRunning })}>
              {isRunning ? "Stop" : "Run"}
            </Button>
            <Button onClick={() => void act("advanceClock", { to: "next_due" })}>To the next due thing</Button>
          </div>
          <div class="row">
            {steps.map(([label, ms]) => (
              <Button key={label} onClick={() => advance(ms)}>
                {label}
              </Button>
            ))}
          </div>
          <form
            class="inline-form"
            onSubmit={(event) => {
              const minutes = Number(valuesOf(event)["minutes"])
              if (minutes > 0) advance(Math.round(minutes * 60_000))
            }}
          >
            <Input label="Minutes" name="minutes" type="number" min="0" step="any" required />
            <button type="submit">Advance</button>
          </form>
        </>
      ) : (
        <p class="note">
          This emulator follows real time. The command colloquy-emulator has a clock that can be moved.
        </p>
      )}
      <h3>Waiting for a time</h3>
      {(state.value?.waiting.length ?? 0) === 0 ? <p class="empty">No delivery waits.</p> : null}
      <ul class="plain">
        {state.value?.waiting.map((each) => (
          <li key={each.delivery_id}>
            {each.update_type}, attempt {each.attempt}, at {preciseTime(each.due_at)}
          </li>
        ))}
      </ul>
    </>
  )
}
