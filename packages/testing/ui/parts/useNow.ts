import { useEffect, useState } from "preact/hooks"
import { clockAt, emulatorNow } from "../store.ts"

/** The time of the emulator, which is read again every half second. */
export const useNow = (): number => {
  const [now, setNow] = useState(emulatorNow())
  const { isRunning, readAt } = clockAt.value
  useEffect(() => {
    setNow(emulatorNow())
    if (!isRunning) return undefined
    const timer = setInterval(() => setNow(emulatorNow()), 500)
    return () => clearInterval(timer)
  }, [isRunning, readAt])
  return now
}
