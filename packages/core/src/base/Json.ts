/**
 * JSON with exact integers. The position of a message (`seq`) is always greater than 2^53, so a double cannot hold it.
 *
 * @since 0.1.0
 */
import * as json from "./internal/json.ts"

/**
 * Parses JSON as `JSON.parse` does, but returns a bigint for each integer that a double cannot hold.
 *
 * Throws a `SyntaxError` if the text is not JSON, is nested deeper than `Platform.maxJsonDepth`, or has an integer of
 * more than `Platform.maxJsonDigits` digits.
 *
 * **Example**
 *
 * ```ts
 * import { Json } from "@colloquy/core"
 *
 * Json.parse(`{"seq":116328127605864690}`) // => { seq: 116328127605864690n }
 * ```
 *
 * @assumption jsonDepth
 * @assumption jsonDigits
 * @category parsing
 * @since 0.1.0
 */
export const parse: (text: string) => unknown = json.parseExactly

/**
 * Writes JSON as `JSON.stringify` does, but writes a bigint as an integer.
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
