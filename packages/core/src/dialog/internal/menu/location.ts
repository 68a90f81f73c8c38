import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import type { InvalidMenu } from "../../Menu.ts"
import type { ValueCodec } from "../../../bot/internal/handlers/namedValue.ts"
import type { Definition } from "./layout.ts"

const Frame = Schema.Struct({
  /** The page. */
  p: Schema.String,
  /** The parameters of the page, encoded. Absent if the page has no parameters. */
  d: Schema.optionalKey(Schema.Json),
  /** The shown parts of the lists of the page, by name. Absent for the first part. */
  l: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int))
})

/** An open page. */
export type Frame = typeof Frame.Type

const Act = Schema.Union([
  Schema.Tuple([Schema.Literal("press"), Schema.String]),
  Schema.Tuple([Schema.Literal("press"), Schema.String, Schema.String]),
  Schema.Tuple([Schema.Literal("open"), Frame]),
  Schema.Tuple([Schema.Literal("turn"), Schema.String, Schema.Int]),
  Schema.Tuple([Schema.Literals(["back", "close", "refresh"])])
])

/** The action of a button in its payload. */
export type Act = typeof Act.Type

/**
 * The payload of a button. The payload contains all data that is needed to show the page again, so that no data has to
 * be stored, and each message of a menu has its own place.
 */
export const Pressed = Schema.Struct({
  /** The open pages, the current one last. */
  at: Schema.Array(Frame),
  do: Act,
  /** The only user who may press. Absent: everybody may. */
  by: Schema.optionalKey(Schema.Int),
  /** The version of the menu. Absent: 1. */
  v: Schema.optionalKey(Schema.Int),
  /** Identifies one display of the button, if only the first press counts. */
  n: Schema.optionalKey(Schema.String)
})

export type Pressed = typeof Pressed.Type

export type PageCodecs = ReadonlyMap<string, ValueCodec>

/** An open page whose parameters were decoded. */
export interface Place {
  readonly frame: Frame
  readonly params: unknown
}

/** Returns the place of a page. The first part of each of its lists is shown. */
export const placeOf = (
  { codecs, invalid }: Definition,
  page: string,
  params: unknown
): Effect.Effect<Place, InvalidMenu> => {
  const codec = codecs.get(page)
  if (codec === undefined) {
    const pages = [...codecs.keys()].join(", ")
    return Effect.fail(invalid(page, `there is no such page. Its pages are ${pages}`))
  }
  if (!codec.hasValue) return Effect.succeed({ frame: { p: page }, params: undefined })
  return Effect.mapBoth(codec.encode(params), {
    onSuccess: (d) => ({ frame: { p: page, d }, params }),
    onFailure: ({ issue }) =>
      invalid(page, `its parameters do not match their schema: ${FieldIssue.formatSchemaIssue(issue)}`)
  })
}

/** Decodes open pages, up to the first that is missing or whose parameters cannot be decoded. */
export const readPlaces = Effect.fnUntraced(function* (codecs: PageCodecs, frames: ReadonlyArray<Frame>) {
  const places: Array<Place> = []
  for (const frame of frames) {
    const codec = codecs.get(frame.p)
    if (codec === undefined || codec.hasValue !== (frame.d !== undefined)) return places
    const params = yield* Effect.option(codec.decode(frame.d))
    if (Option.isNone(params)) return places
    places.push({ frame, params: params.value })
  }
  return places
})

const isSamePage = (a: Frame, b: Frame): boolean => a.p === b.p && JSON.stringify(a.d) === JSON.stringify(b.d)

/** Opens a page, or returns to the page if the page is open. */
export const open = (places: ReadonlyArray<Place>, place: Place): ReadonlyArray<Place> => {
  const index = places.findIndex(({ frame }) => isSamePage(frame, place.frame))
  return index === -1 ? [...places, place] : places.slice(0, index + 1)
}

/** Shows another part of a list of the current page. */
export const turn = (places: ReadonlyArray<Place>, list: string, to: number): ReadonlyArray<Place> => {
  const current = places.at(-1)
  if (current === undefined) return places
  const { l: _, ...frame } = current.frame
  const { [list]: _before, ...others } = current.frame.l ?? {}
  const lists = to === 0 ? others : { ...others, [list]: to }
  const turned = Object.keys(lists).length === 0 ? frame : { ...frame, l: lists }
  return [...places.slice(0, -1), { ...current, frame: turned }]
}

/** Whether a button with this act is the pressed one. */
export const isSameAct = (a: Act, b: Act): boolean =>
  a[0] === "open" && b[0] === "open" ? isSamePage(a[1], b[1]) : JSON.stringify(a) === JSON.stringify(b)
