import { signal } from "@preact/signals"
import { render } from "preact"
import { Submit } from "../parts/Button.tsx"
import { Field, valuesOf } from "../parts/Field.tsx"
import { Tabs } from "../parts/Tabs.tsx"
import { ThemeButton } from "../parts/ThemeButton.tsx"
import { Toasts } from "../parts/Toasts.tsx"
import { problem, setToken, token } from "./client.ts"
import { DeadLetters } from "./DeadLetters.tsx"
import { Broadcasts, Chats, Timers, Updates } from "./lists.tsx"
import { Conversations, Limits, Overview } from "./Overview.tsx"

const current = signal("overview")

const tabs = [
  { name: "overview", label: "Overview", view: Overview },
  { name: "updates", label: "Updates", view: Updates },
  { name: "dead", label: "Dead letters", view: DeadLetters },
  { name: "chats", label: "Chats", view: () => <Chats onOpen={() => (current.value = "updates")} /> },
  { name: "conversations", label: "Conversations", view: Conversations },
  { name: "timers", label: "Timers", view: Timers },
  { name: "broadcasts", label: "Broadcasts", view: Broadcasts },
  { name: "limits", label: "Limits", view: Limits }
]

const Login = () => (
  <form
    class="form login"
    onSubmit={(event) => {
      const { given } = valuesOf(event)
      if (given !== undefined) setToken(given)
    }}
  >
    {problem.value === undefined ? null : (
      <p class="bad" role="alert">
        {problem.value}
      </p>
    )}
    <Field label="Token of the board" hint="Only this tab keeps the token.">
      <input name="given" type="password" autocomplete="off" required />
    </Field>
    <Submit>Open</Submit>
  </form>
)

const Views = () => (
  <Tabs label="Views" tabs={tabs} current={current.value} panel="view" onChange={(next) => (current.value = next)} />
)

const Board = () => (
  <div class="app board">
    <header class="top-bar">
      <h1>Colloquy board</h1>
      <span class="spacer" />
      <ThemeButton />
    </header>
    <main class="board-main">{token.value === undefined ? <Login /> : <Views />}</main>
    <Toasts />
  </div>
)

/** Shows the board in an element, in place of the content of the element. */
export const mount = (root: Element): void => {
  root.replaceChildren()
  render(<Board />, root)
}
