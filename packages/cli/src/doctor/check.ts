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

const withAdvice =
  (status: "warning" | "problem") =>
  (name: string, detail: string, advice: string): Check => ({ name, status, detail, advice })

export const warning = withAdvice("warning")

export const problem = withAdvice("problem")

/** The results of the check with a name. */
export const resultsOf = (name: string) => ({
  ok: (detail: string) => ok(name, detail),
  skipped: (detail: string) => skipped(name, detail),
  warning: (detail: string, advice: string) => warning(name, detail, advice),
  problem: (detail: string, advice: string) => problem(name, detail, advice)
})
