/// <reference lib="dom" />
import axe from "axe-core"
import type { Page } from "playwright-core"

/** The violations that axe finds on the screen, outside of the excluded elements. */
export const violationsOf = async (page: Page, exclude: ReadonlyArray<string> = []): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(
    async (exclude) => {
      const { violations } = await (globalThis as unknown as { readonly axe: typeof axe }).axe.run(
        { exclude },
        { resultTypes: ["violations"] }
      )
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`)
    },
    [...exclude]
  )
}
