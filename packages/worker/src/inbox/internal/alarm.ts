import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"

/** The alarm of the object. Times are Unix milliseconds. */
export interface Alarm {
  /** Sets the alarm to a time, unless the alarm is set to an earlier time. */
  readonly setBy: (time: number) => void
  /** Sets or removes the alarm. */
  readonly set: (time: number | undefined) => void
  /** Call after the alarm has fired and is no longer set. */
  readonly fired: () => void
}

/** The alarm is written with the rows that the same turn of the event loop writes: both are stored, or none. */
export const makeAlarm = (storage: DurableObjectStorage): Alarm => {
  let at: number | undefined
  const set = (time: number | undefined): void => {
    if (time === at) return
    at = time
    // The storage rejects a time that is not positive. An alarm at another past time fires at once.
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
