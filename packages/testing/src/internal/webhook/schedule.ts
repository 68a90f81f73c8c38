/** How long a webhook may take to answer. */
export const answerWithin = 30_000

export const maxRetries = 10

const firstRetryAfter = 60_000

const growth = 2.5

/** How long after a failure the retry of that number follows; 1 is the first. */
export const retryDelay = (retry: number): number => Math.round(firstRetryAfter * growth ** (retry - 1))

/** @assumption C The 8 hours without a success count from the first failure after the last success. */
export const unsubscribedAfter = 8 * 60 * 60 * 1000
