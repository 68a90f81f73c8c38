/**
 * Readable messages for the problems that a schema finds in a value, one for each field.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import { fieldOf, leaves } from "./internal/issues.ts"

/**
 * A field and its problem.
 *
 * @category models
 * @since 0.1.0
 */
export const FieldIssue = Schema.Struct({
  /** The path of the field, such as `attachments[0].payload`. Empty for the value as a whole. */
  field: Schema.String,
  /** The problem, such as `must be at most 4000 characters`. */
  problem: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface FieldIssue extends Schema.Schema.Type<typeof FieldIssue> {}

/**
 * Returns each field of a schema issue with its problem.
 *
 * **Example**
 *
 * ```ts
 * import { FieldIssue, User } from "@colloquy/core"
 * import { Result, Schema } from "effect"
 *
 * const user = Schema.decodeUnknownResult(User.User)({ user_id: "one", first_name: "Ann", is_bot: false })
 * const issues = Result.isFailure(user) ? FieldIssue.fromSchemaIssue(user.failure.issue) : []
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromSchemaIssue = (issue: SchemaIssue.Issue): ReadonlyArray<FieldIssue> =>
  leaves(issue).map(({ path, problem }) => ({ field: fieldOf(path), problem }))

/**
 * Formats issues on one line, separated by semicolons.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = (issues: ReadonlyArray<FieldIssue>): string =>
  issues.map(({ field, problem }) => (field === "" ? problem : `\`${field}\` ${problem}`)).join("; ")

/**
 * Formats a schema issue on one line: {@link format} after {@link fromSchemaIssue}.
 *
 * @category formatting
 * @since 0.1.0
 */
export const formatSchemaIssue = (issue: SchemaIssue.Issue): string => format(fromSchemaIssue(issue))
