const unavailable = (): never => {
  throw new Error("A browser has no files")
}

export const readFileSync = unavailable

export const existsSync = () => false

export const mkdirSync = unavailable

export const writeFileSync = unavailable

export const fileURLToPath = unavailable
