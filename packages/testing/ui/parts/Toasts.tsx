import { Button } from "./Button.tsx"
import { announcement, dismissToast, toasts } from "../store.ts"

/** The messages of the page about the results of actions, also for screen readers. */
export const Toasts = () => (
  <>
    <div class="toasts">
      {toasts.value.map(({ id, kind, text }) => (
        <Button key={id} class={`toast ${kind}`} onClick={() => dismissToast(id)}>
          <bdi>{text}</bdi>
        </Button>
      ))}
    </div>
    <div class="announcer" role="log" aria-live="polite" aria-atomic="true">
      {announcement.value}
    </div>
  </>
)
