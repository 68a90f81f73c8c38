declare module "virtual:bots" {
  import type { Bot } from "../../internal/bots.ts"

  export const bots: ReadonlyArray<Bot>
}

declare module "*.css" {}
