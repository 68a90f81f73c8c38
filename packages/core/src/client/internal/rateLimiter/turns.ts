/** Time that a waiting process may be late with its next request before the process loses its place, in milliseconds. */
export const gracePeriod = 250

/** Time for which a process waits for each earlier process to take a permit, in milliseconds. */
export const turn = 10

/** Time that a process waits while all permits of the host are reserved for absent members, in milliseconds. */
export const reservedRetryAfter = 200
