/**
 * The part of the storage of a Durable Object that this package uses.
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
 * The storage of a Durable Object with SQLite: `ctx.storage` of its class. The class has to be configured with SQLite,
 * and to have a method `alarm`. Responses and requests leave the object only after its earlier writes are durable.
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
    ) => {
      /** Returns the rows. */
      readonly toArray: () => Array<Row>
      /** Returns the rows as arrays of their columns. */
      readonly raw: <Columns extends Array<Value>>() => Iterable<Columns>
    }
  }
  /** Runs a function in a transaction, which is rolled back if the function throws. */
  readonly transactionSync: <A>(run: () => A) => A
  /**
   * Sets the alarm, which calls the method `alarm` of the object, to a time in Unix milliseconds. Replaces an earlier
   * alarm.
   */
  readonly setAlarm: (time: number) => Promise<void>
  /** Removes the alarm. */
  readonly deleteAlarm: () => Promise<void>
}
