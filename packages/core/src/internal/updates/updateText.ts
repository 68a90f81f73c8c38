import * as Schema from "effect/Schema"
import { Update } from "../../Update.ts"
import { stringify } from "../client/json.ts"

const encodeUpdate = Schema.encodeSync(Update)

/** The JSON of an update, as the wire has it. */
export const encode = (update: Update): unknown => encodeUpdate(update)

/** The text of an update, as the wire has it. */
export const toText = (update: Update): string => stringify(encode(update))
