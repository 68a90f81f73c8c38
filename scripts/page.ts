/** Builds the page of the emulator, unless it is up to date. */
import { buildPage } from "./internal/page.ts"

/** Builds it before the tests. */
export const setup = buildPage

if (import.meta.main) await buildPage()
