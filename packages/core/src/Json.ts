/**
 * JSON that keeps every digit of every integer: positions (`seq`) on this platform are always beyond 2^53.
 *
 * @since 0.1.0
 */
import * as json from "./internal/client/json.ts"

/**
 * `JSON.parse` with every integer beyond 2^53 as a bigint. Throws a `SyntaxError` as `JSON.parse` does.
 *
 * **Example**
 *
 * ```ts
 * import { Json } from "@colloquy/core"
 *
 * Json.parse(`{"seq":116328127605864690}`) // => { seq: 116328127605864690n }
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse: (text: string) => unknown = json.parseExactly

/**
 * `JSON.stringify` that writes a bigint as the integer it is.
 *
 * **Example**
 *
 * ```ts
 * import { Json } from "@colloquy/core"
 *
 * Json.stringify({ seq: 116328127605864690n }) // => {"seq":116328127605864690}
 * ```
 *
 * @category writing
 * @since 0.1.0
 */
export const stringify: (value: unknown) => string = json.stringify
