/**
 * The storage of a Durable Object, as far as this package uses it.
 *
 * @since 0.1.0
 */

/**
 * A value of a row.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = string | number | null | ArrayBuffer

/**
 * The storage of a Durable Object with SQLite: `ctx.storage` of its class. The class has to be configured with SQLite, and
 * to have a method `alarm`.
 *
 * @category models
 * @since 0.1.0
 */
export interface DurableObjectStorage {
  /** The SQL database of the object. */
  readonly sql: {
    /** Executes a statement. */
    readonly exec: <Row extends Record<string, Value>>(
      query: string,
      ...values: Array<Value>
    ) => { readonly toArray: () => Array<Row> }
  }
  /** Runs a function in a transaction, which is rolled back if the function throws. */
  readonly transactionSync: <A>(run: () => A) => A
  /** Calls the method `alarm` of the object at a time in Unix milliseconds. It replaces the alarm that is set. */
  readonly setAlarm: (time: number) => Promise<void>
  /** Removes the alarm that is set. */
  readonly deleteAlarm: () => Promise<void>
}
