/** CPU time of this process until now, in microseconds. */
export const cpuTime = (): number => {
  const { system, user } = process.cpuUsage()
  return system + user
}

/** CPU time of this thread until now, in microseconds. Other programs affect it less than the clock. */
export const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return system + user
}

/** The CPU time that a program uses in this process, in microseconds. */
export const cpuOf = async (run: () => Promise<unknown>): Promise<number> => {
  const before = cpuTime()
  await run()
  return cpuTime() - before
}

/** The time that a program takes, in milliseconds. */
export const millisOf = async (run: () => unknown): Promise<number> => {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** Measures contenders in turns. Returns a cost of each for every round after the warm-ups. */
export const takeTurns = async <Name extends string>(
  contenders: Readonly<Record<Name, (round: number) => number | Promise<number>>>,
  { rounds, warmUps = 1 }: { readonly rounds: number; readonly warmUps?: number }
): Promise<Record<Name, Array<number>>> => {
  const names = Object.keys(contenders) as Array<Name>
  const costs = Object.fromEntries(names.map((name) => [name, new Array<number>()])) as Record<Name, Array<number>>
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      const cost = await contenders[name](round)
      if (round >= 0) costs[name].push(cost)
    }
  }
  return costs
}
