/** Bodies of responses and updates that a hostile or broken server could send, by name. */

const repeat = (part: string, size: number): string => part.repeat(Math.max(0, Math.floor(size / part.length)))

/** As many parts as fit, separated by commas. */
const numbered = (part: (index: number) => string, size: number): string => {
  const parts: Array<string> = []
  for (let length = 0, index = 0; length < size; index++) {
    const next = part(index)
    length += next.length + 1
    if (length <= size) parts.push(next)
  }
  return parts.join(",")
}

type Body = (size: number) => string

const list =
  (element: string | ((index: number) => string)): Body =>
  (size) =>
    `[${numbered(typeof element === "string" ? () => element : element, size - 2)}]`

const nested =
  (open: string, close: string): Body =>
  (size) => {
    const levels = Math.floor(size / (open.length + close.length))
    return open.repeat(levels) + close.repeat(levels)
  }

/** JSON values that are slow to parse, to convert or to walk. */
const values: Readonly<Record<string, Body>> = {
  "nested lists": nested("[", "]"),
  "nested lists that are open": (size) => repeat("[", size),
  "nested objects": nested('{"a":', "}"),
  "lists at the maximum depth": (size) => `${"[".repeat(256)}${repeat("[],", size - 600)}0${"]".repeat(256)}`,
  "empty lists": list("[]"),
  "empty objects": list("{}"),
  "objects with one key": list('{"a":1}'),
  "objects with other keys": list((index) => `{"k${index}":1}`),
  keys: (size) => `{${numbered((index) => `"k${index}":1`, size - 2)}}`,
  "numeric keys": (size) => `{${numbered((index) => `"${(index * 7919) % 4294967295}":1`, size - 2)}}`,
  "the same key": (size) => `{${numbered(() => '"a":1', size - 2)}}`,
  "keys named __proto__": (size) => `{${numbered(() => '"__proto__":[1]', size - 2)}}`,
  zeros: list("0"),
  strings: list('"a"'),
  "other strings": list((index) => `"k${index}"`),
  "escaped characters": (size) => `"${repeat("\\n", size - 2)}"`,
  "a digit for each byte": (size) => repeat("1", size),
  "digits with a sign": (size) => `-${repeat("9", size - 1)}`,
  "decimal digits": (size) => `0.${repeat("1", size - 2)}`,
  "digits in a string": (size) => `"${repeat("1", size - 2)}"`,
  "marked digits": (size) => `["\u0080${repeat("1", size - 5)}"]`,
  "long integers": list("12345678901234567890"),
  "members with long integers": (size) => `{${numbered((index) => `"${index}":12345678901234567890`, size - 2)}}`,
  "integers of 1000 digits": list("1".repeat(1000)),
  spaces: (size) => `${repeat(" ", size - 1)}1`,
  quotes: (size) => repeat('"', size),
  backslashes: (size) => `"${repeat("\\", size - 2)}"`
}

const message = (body: string): string =>
  `{"recipient":{"chat_id":1,"chat_type":"chat"},"timestamp":1,"body":{"mid":"m","seq":116328127605864690,${body}}}`

const update = (body: string): string => `{"update_type":"message_created","timestamp":1,"message":${message(body)}}`

/** Where a value can be in a message. */
const places: Readonly<Record<string, (value: string) => string>> = {
  text: (value) => message(`"text":${value}`),
  attachments: (value) => message(`"attachments":${value}`),
  "an unknown member": (value) => message(`"later":${value}`)
}

/** Elements that cannot be decoded, which are repaired or left out one by one. */
const elements: Readonly<Record<string, string>> = {
  "messages with a malformed attachment": message('"attachments":[{"type":"image"}]'),
  "messages with a malformed sender": message('"text":"a"},"sender":{"user_id":1},"stat":{"views":"many"'),
  "messages without a recipient": '{"timestamp":1}',
  "messages that are null": "null"
}

/** Parts of one update that cannot be decoded. */
const parts: Readonly<Record<string, string>> = {
  "malformed attachments": '{"type":"image"}',
  "malformed markup": '{"type":"link"}',
  "attachments that are null": "null",
  "unknown attachments": '{"type":"later","seq":12345678901234567890}'
}

/** Bodies of `GET /messages`, with their names. */
export const responses = (size: number): ReadonlyArray<readonly [name: string, body: () => string]> => [
  ...Object.entries(values).map(([name, value]) => [name, () => value(size)] as const),
  ...Object.entries(values).map(
    ([name, value]) => [`a page of ${name}`, () => `{"messages":${value(size - 20)}}`] as const
  ),
  ...Object.entries(values).flatMap(([name, value]) =>
    Object.entries(places).map(
      ([place, put]) => [`${name} as ${place}`, () => `{"messages":[${put(value(size - 250))}]}`] as const
    )
  ),
  ...Object.entries(elements).map(
    ([name, element]) => [`a page of ${name}`, () => `{"messages":${list(element)(size - 20)}}`] as const
  ),
  ...Object.entries(parts).flatMap(([name, part]) =>
    [8192, 60_000, size].map(
      (length) =>
        [
          `${name} (${length} bytes)`,
          () => `{"messages":[${message(`"attachments":${list(part)(length - 300)}`)}]}`
        ] as const
    )
  )
]

/** Updates, with their names. */
export const updates = (size: number): ReadonlyArray<readonly [name: string, body: () => string]> => [
  ...Object.entries(values).flatMap(([name, value]) => [
    [`update: ${name}`, () => value(size)] as const,
    [`unknown update with ${name}`, () => `{"update_type":"later","value":${value(size - 40)}}`] as const,
    [`update with ${name} as text`, () => update(`"text":${value(size - 300)}`)] as const,
    [`update with ${name} as attachments`, () => update(`"attachments":${value(size - 300)}`)] as const
  ]),
  ...Object.entries(parts).flatMap(([name, part]) =>
    [8192, 30_000, 60_000, size].flatMap((length) => [
      [`update with ${name} (${length} bytes)`, () => update(`"attachments":${list(part)(length - 300)}`)] as const,
      [`update with ${name} as markup (${length} bytes)`, () => update(`"markup":${list(part)(length - 300)}`)] as const
    ])
  )
]
