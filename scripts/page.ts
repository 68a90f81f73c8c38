/** Builds the page of the emulator and the page of the board, unless they are up to date. */
import { buildPages } from "./internal/page.ts"

/** Builds them before the tests. */
export const setup = buildPages

if (import.meta.main) await buildPages()
