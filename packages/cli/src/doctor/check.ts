/** The result of a check, with the remedy of a problem. */
export interface Check {
  readonly name: string
  /** `skipped`: not needed with these settings, or another check must succeed first. */
  readonly status: "ok" | "warning" | "problem" | "skipped"
  readonly detail: string
  readonly advice?: string | undefined
}

export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail })

export const skipped = (name: string, detail: string): Check => ({ name, status: "skipped", detail })

export const warning = (name: string, detail: string, advice: string): Check => ({
  name,
  status: "warning",
  detail,
  advice
})

export const problem = (name: string, detail: string, advice: string): Check => ({
  name,
  status: "problem",
  detail,
  advice
})
