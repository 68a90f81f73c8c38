declare module "virtual:bots" {
  import type { Bot } from "../../internal/bots.ts"

  export const bots: ReadonlyArray<Bot>
  /** The files of a project, without its bot. */
  export const project: Readonly<Record<string, string>>
}

declare module "*.css" {}
