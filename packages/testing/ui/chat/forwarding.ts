import { signal } from "@preact/signals"
import type { Pane } from "../store.ts"

/** The message to forward, while a person chooses the target chat. */
export const forwarding = signal<{ readonly pane: Pane; readonly mid: string } | undefined>(undefined)
