import type * as Clock from "effect/Clock"
import { UploadEvent } from "../../UploadEvent.ts"

const second = 1000
const stepOfUnknown = 2 ** 20

/** How much of a rate stays from second to second. */
const inertia = 0.7

/** How far an upload is. */
export interface Progress {
  /** When a byte moved last, in either direction. */
  readonly movedAt: () => number
  readonly touch: () => void
  /** The next byte is that one. */
  readonly standAt: (sent: number) => void
  readonly add: (bytes: number) => void
}

/** Counts the bytes on their method, and tells of them at each percent and each second. */
export const make = (clock: Clock.Clock, size: number | undefined, tell: (event: UploadEvent) => void): Progress => {
  let sent = 0
  let movedAt = clock.currentTimeMillisUnsafe()
  let toldAt = movedAt
  let toldStep = -1
  let measured = { at: movedAt, sent: 0 }
  let rate: number | undefined

  const percent = (whole: number) => (whole === 0 ? 100 : (sent / whole) * 100)

  const measure = () => {
    const elapsed = movedAt - measured.at
    if (elapsed < second) return
    const now = ((sent - measured.sent) / elapsed) * second
    rate = rate === undefined ? now : rate * inertia + now * (1 - inertia)
    measured = { at: movedAt, sent }
  }

  const report = () => {
    measure()
    const step = Math.floor(size === undefined ? sent / stepOfUnknown : percent(size))
    if (step === toldStep && movedAt - toldAt < second) return
    toldStep = step
    toldAt = movedAt
    tell(
      UploadEvent.Progress({
        sent,
        ...(size === undefined ? {} : { size, percent: percent(size) }),
        ...(rate === undefined ? {} : { bytesPerSecond: Math.round(rate) })
      })
    )
  }

  const touch = () => {
    movedAt = clock.currentTimeMillisUnsafe()
  }

  return {
    movedAt: () => movedAt,
    touch,
    standAt: (at) => {
      touch()
      if (at !== sent) measured = { at: movedAt, sent: at }
      sent = at
      report()
    },
    add: (bytes) => {
      touch()
      sent += bytes
      report()
    }
  }
}
