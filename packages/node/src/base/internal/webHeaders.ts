/** The headers of `node:http` and undici: a header that was sent several times is a list. */
export type RawHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The headers for a web `Request` or `Response`. */
export const webHeadersOf = (headers: RawHeaders): Array<[string, string]> =>
  Object.entries(headers).flatMap(([name, value = []]) =>
    (typeof value === "string" ? [value] : value).map((each): [string, string] => [name, each])
  )
