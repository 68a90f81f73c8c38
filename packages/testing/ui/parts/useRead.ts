import { useEffect, useState } from "preact/hooks"

/** The answer of a call that does not fail. The call is made again when a dependency changes. */
export const useRead = <A>(read: () => Promise<A>, dependencies: ReadonlyArray<unknown>): A | undefined => {
  const [answer, setAnswer] = useState<A | undefined>()
  useEffect(() => {
    let isCurrent = true
    void read().then((found) => isCurrent && setAnswer(() => found))
    return () => {
      isCurrent = false
    }
  }, dependencies)
  return answer
}
