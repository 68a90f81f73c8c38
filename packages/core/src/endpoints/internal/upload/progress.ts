import type * as Clock from "effect/Clock"
import { UploadEvent } from "../../Upload.ts"

const reportInterval = 1000
const reportedBytes = 2 ** 20

/** The weight of the previous rate in the moving average, per second. */
const smoothing = 0.7

const percentOf = (sent: number, size: number): number => (size === 0 ? 100 : (sent / size) * 100)

/** Counts the bytes of an upload. Emits `Progress` at each percent, or at each MiB if the size is unknown, and at least once per second. */
export const make = (clock: Clock.Clock, size: number | undefined, emit: (event: UploadEvent) => void) => {
  let sent = 0
  let lastActivity = clock.currentTimeMillisUnsafe()
  let emittedAt = lastActivity
  let emittedStep = -1
  let sample = { at: lastActivity, sent: 0 }
  let rate: number | undefined

  const updateRate = () => {
    const elapsed = lastActivity - sample.at
    if (elapsed < reportInterval) return
    const current = ((sent - sample.sent) / elapsed) * 1000
    rate = rate === undefined ? current : rate * smoothing + current * (1 - smoothing)
    sample = { at: lastActivity, sent }
  }

  const report = () => {
    updateRate()
    const step = Math.floor(size === undefined ? sent / reportedBytes : percentOf(sent, size))
    if (step === emittedStep && lastActivity - emittedAt < reportInterval) return
    emittedStep = step
    emittedAt = lastActivity
    emit(
      UploadEvent.Progress({
        sent,
        ...(size === undefined ? {} : { size, percent: percentOf(sent, size) }),
        ...(rate === undefined ? {} : { bytesPerSecond: Math.round(rate) })
      })
    )
  }

  const recordActivity = () => {
    lastActivity = clock.currentTimeMillisUnsafe()
  }

  return {
    /** The time when the last byte was sent or received, in milliseconds. */
    lastActivity: () => lastActivity,
    recordActivity,
    /** Sets the number of bytes sent. */
    moveTo: (position: number) => {
      recordActivity()
      if (position !== sent) sample = { at: lastActivity, sent: position }
      sent = position
      report()
    },
    /** Adds to the number of bytes sent. */
    add: (bytes: number) => {
      recordActivity()
      sent += bytes
      report()
    }
  }
}

export type Progress = ReturnType<typeof make>
