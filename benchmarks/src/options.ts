/** The number of an option such as `--updates=10000` of `npm run bench`. */
export const option = (name: string, fallback: number): number => {
  const given = process.argv.find((arg) => arg.startsWith(`--${name}=`))
  if (given === undefined) return fallback
  const value = Number(given.slice(name.length + 3))
  if (!Number.isInteger(value) || value < 1) throw new Error(`The option --${name} requires a positive whole number`)
  return value
}

/** Conversations that wait. The whole size is `--parked=100000`. */
export const parked = option("parked", 5000)
