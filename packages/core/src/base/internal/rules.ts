import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { FieldIssue } from "../FieldIssue.ts"
import { lengthOf, maxSecretLength, minSecretLength } from "../Platform.ts"

// A text has at least as many UTF-16 code units as characters.
const fits = (text: string, max: number): boolean => text.length <= max || lengthOf(text) <= max

/** The check that a text has at least one character. */
export const notEmpty = (problem: string) =>
  Schema.makeFilter((text: string) => text !== "" || problem, {
    toJsonSchema: () => ({ minLength: 1 }),
    arbitraryConstraint: { minLength: 1 }
  })

/** A text of `min` to `max` characters. */
export const text = (min: number, max: number): Schema.Codec<string, string> => {
  const lengths = min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }
  const problem = `must be ${min === 0 ? "at most" : `${min} to`} ${max} characters`
  return Schema.String.check(
    Schema.makeFilter((text) => (text.length >= min && fits(text, max)) || problem, {
      toJsonSchema: () => lengths,
      arbitraryConstraint: lengths
    })
  )
}

/** An integer from `min` to `max`, with a default of the platform. */
export const between = (min: number, { default: byDefault, max }: { readonly default: number; readonly max: number }) =>
  Schema.Int.check(
    Schema.makeFilter((value) => (value >= min && value <= max) || `must be a whole number from ${min} to ${max}`, {
      toJsonSchema: () => ({ minimum: min, maximum: max }),
      arbitraryConstraint: { order: Order.Number, minimum: min, maximum: max }
    })
  ).annotate({ default: byDefault })

/** A switch with a default of the platform. */
export const flag = (byDefault: boolean) => Schema.Boolean.annotate({ default: byDefault })

/** An integer that is not negative. */
export const nonNegative = Schema.Int.check(
  Schema.makeFilter((value) => value >= 0 || "must be a whole number, 0 or greater", {
    toJsonSchema: () => ({ minimum: 0 }),
    arbitraryConstraint: { order: Order.Number, minimum: 0 }
  })
)

/** A list of `min` to `max` elements, each of which counts once. */
export const list = <A, I>(item: Schema.Codec<A, I>, min: number, max?: number) =>
  Schema.Array(item).check(
    Schema.makeFilter(
      (items) =>
        items.length < min
          ? `must hold at least ${min}`
          : max !== undefined && items.length > max
            ? `must hold at most ${max}, holds ${items.length}`
            : undefined,
      {
        toJsonSchema: () => ({
          ...(min === 0 ? {} : { minItems: min }),
          ...(max === undefined ? {} : { maxItems: max }),
          uniqueItems: true
        })
      }
    )
  )

/** A text with at least one character that is not blank. */
export const notBlank = Schema.String.check(
  Schema.makeFilter((value) => value.trim().length > 0 || "must have at least one character that is not blank", {
    toJsonSchema: () => ({ minLength: 1, pattern: "\\S" })
  })
)

/** The rule that at least one of the fields is given. */
export const atLeastOne =
  (...keys: ReadonlyArray<string>) =>
  (request: object): FieldIssue | undefined =>
    Object.entries(request).some(([key, value]) => keys.includes(key) && value != null)
      ? undefined
      : { field: keys.join(", "), problem: "must be at least one of these, none is given" }

/** The rule that exactly one of the fields is given. */
export const exactlyOne =
  (...keys: ReadonlyArray<string>) =>
  (request: object): FieldIssue | undefined => {
    const count = Object.entries(request).filter(([key, value]) => keys.includes(key) && value != null).length
    return count === 1
      ? undefined
      : {
          field: keys.join(", "),
          problem: `must be exactly one of these, ${count === 0 ? "none" : "more than one"} is given`
        }
  }

/** Dies if an option is not an integer above 0, because such an option is a defect of the program. */
export const checkPositiveInteger = (module: string, option: string, value: number): Effect.Effect<void> =>
  Number.isInteger(value) && value > 0
    ? Effect.void
    : Effect.die(new RangeError(`${module}: the option \`${option}\` must be an integer above 0, but is ${value}`))

/** Whether a text can be the name of an HTTP header. */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)

/** Whether a host name is an address of this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(host.toLowerCase())

/** Whether a URL has the scheme `http` and an address of this machine. */
export const isLoopbackUrl = (url: string): boolean => {
  const host = /^http:\/\/([^/?#\s:[\]]+|\[[^\]\s]*\])(?::\d{1,5})?(?:[/?#]\S*)?$/i.exec(url)?.[1]
  return host !== undefined && isLoopbackHost(host)
}

/** The reason for which the platform would reject the URL of a webhook, if any. */
export const webhookUrlProblem = (url: string): string | undefined => {
  const authority = /^https:\/\/([^/?#\s]+)[^\s]*$/.exec(url)?.[1]
  if (authority === undefined) return "must be a complete https:// URL"
  return /:\d*$/.test(authority) ? "must not contain a port: the platform delivers to port 443" : undefined
}

/** The form of secrets with an alphabet of letters, digits and `characters`, and its description. */
export const secretForm = (characters: string) => {
  const escaped = characters.replace(/[\\\]^-]/g, "\\$&")
  const named = [...characters].map((character) => (character === "-" ? "hyphen" : character))
  const alphabet = ["A-Z", "a-z", "0-9", ...named]
  return {
    length: { minLength: minSecretLength, maxLength: maxSecretLength },
    pattern: new RegExp(`^[A-Za-z0-9${escaped}]{${minSecretLength},${maxSecretLength}}$`, "u"),
    description:
      `must be ${minSecretLength} to ${maxSecretLength} characters of ` +
      `${alphabet.slice(0, -1).join(", ")} and ${alphabet.at(-1)}`
  }
}
