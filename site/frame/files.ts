const unavailable = (): never => {
  throw new Error("A browser has no files")
}

export const readFileSync = unavailable

export const fileURLToPath = unavailable
