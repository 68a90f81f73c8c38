import { signal } from "@preact/signals"
import type { Pane } from "../store.ts"

/** The message for which a person chooses the chat to forward it to. */
export const forwarding = signal<{ readonly pane: Pane; readonly mid: string } | undefined>(undefined)
