/** The outcome of a check, with the remedy of a problem. */
export interface Outcome {
  /** `skipped`: not needed with these settings, or another check must succeed first. */
  readonly status: "ok" | "warning" | "problem" | "skipped"
  readonly detail: string
  readonly advice?: string | undefined
}

/** A check that was made. */
export interface Check extends Outcome {
  readonly name: string
}

export const ok = (detail: string): Outcome => ({ status: "ok", detail })

export const skipped = (detail: string): Outcome => ({ status: "skipped", detail })

export const warning = (detail: string, advice: string): Outcome => ({ status: "warning", detail, advice })

export const problem = (detail: string, advice: string): Outcome => ({ status: "problem", detail, advice })

export const named =
  (name: string) =>
  (outcome: Outcome): Check => ({ name, ...outcome })
