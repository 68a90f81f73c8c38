import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"

/**
 * The alarm of the object. Times are Unix milliseconds. The alarm is written with the rows that the same turn of the event loop
 * writes: both are stored, or none.
 */
export const makeAlarm = (storage: DurableObjectStorage) => {
  let at: number | undefined
  const set = (time: number | undefined): void => {
    if (time === at) return
    at = time
    // The storage rejects a time that is not positive. An alarm at another past time fires at once.
    void (time === undefined ? storage.deleteAlarm() : storage.setAlarm(Math.max(1, time)))
  }
  return {
    /** Sets or removes the alarm. */
    set,
    /** Sets the alarm to a time, unless the alarm is set to an earlier time. */
    setBy: (time: number): void => {
      if (at === undefined || time < at) set(time)
    },
    /** Call after the alarm has fired and is no longer set. */
    fired: (): void => {
      at = undefined
    }
  }
}
