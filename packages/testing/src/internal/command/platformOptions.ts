import { type Options, platformLimits } from "../../EmulatorOptions.ts"
import type { Settings } from "./options.ts"

const limitsOf = ({ isLenient, limits }: Settings): Options["limits"] => {
  if (limits === undefined) return isLenient ? false : platformLimits
  return limits === "off" ? false : { ...platformLimits, ...limits }
}

const atOnce = { bytesPerSecond: Infinity, minimum: 0 }

/** The platform that the flags ask for: as strict as the API document is, unless told. */
export const platformOptions = (settings: Settings, [token, ...moreTokens]: ReadonlyArray<string>): Options => ({
  ...(token === undefined ? {} : { token }),
  moreTokens,
  limits: limitsOf(settings),
  strict: settings.isStrict,
  insecureWebhooks: settings.isLenient,
  secretHeader: settings.secretHeader,
  secretCharacters: settings.secretCharacters,
  ...(settings.isLenient ? { processing: atOnce } : {})
})
