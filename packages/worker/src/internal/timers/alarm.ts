import type { DurableObjectStorage } from "../../DurableObjectStorage.ts"

/** The alarm of the object. Times are Unix milliseconds. */
export interface Alarm {
  /** Sets the alarm to a time, unless it is set to an earlier one. */
  readonly setBy: (time: number) => void
  /** Sets the alarm to a time, or removes it. */
  readonly set: (time: number | undefined) => void
  /** The alarm has fired, so that it is not set any more. */
  readonly fired: () => void
}

/** The alarm is written with the rows that the same turn of the event loop writes: both are stored, or none. */
export const makeAlarm = (storage: DurableObjectStorage): Alarm => {
  let at: number | undefined
  const set = (time: number | undefined): void => {
    if (time === at) return
    at = time
    // A time that is not positive is refused. Any other past time is now.
    void (time === undefined ? storage.deleteAlarm() : storage.setAlarm(Math.max(1, time)))
  }
  return {
    set,
    setBy: (time) => {
      if (at === undefined || time < at) set(time)
    },
    fired: () => {
      at = undefined
    }
  }
}
