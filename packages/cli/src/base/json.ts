import * as Json from "@colloquy/core/base/Json"
import * as Result from "effect/Result"

/** The value of a JSON text. Integers are exact. */
export const parseJson = (text: string): Result.Result<unknown, unknown> => Result.try(() => Json.parse(text))

/** The value of a JSON text, or the text itself if it is not JSON. */
export const jsonOrText = (text: string): unknown => Result.getOrElse(parseJson(text), () => text)
