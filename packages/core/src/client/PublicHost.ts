/**
 * Which hosts are on the public internet.
 *
 * For authors of HTTP clients: a request to an address that the bot received must not reach the network of the bot.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * Whether the current request may only connect to public addresses. An HTTP client that resolves host names itself checks
 * each address with {@link isPublicHost} before it connects, and fails with {@link PrivateAddress} as the cause.
 * `NodeBotHttpClient` does so, unless a proxy resolves the names. Default: `false`.
 *
 * @category references
 * @since 0.1.0
 */
export const PublicHostsOnly = Context.Reference<boolean>("@colloquy/core/PublicHost/PublicHostsOnly", {
  defaultValue: () => false
})

/**
 * The name of a host has an address that is not public. Nothing was sent to the address.
 *
 * @category errors
 * @since 0.1.0
 */
export class PrivateAddress extends TaggedError("PrivateAddress", () => ({
  /** The name of the host. */
  host: Schema.String,
  /** The address that is not public. */
  address: Schema.String
})) {
  override get message() {
    return `the host ${this.host} has the address ${this.address}, which is not public`
  }
}

const toNumber = (bytes: ReadonlyArray<number>): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0)

/** The blocks of IPv4 that are not public, with the lengths of their prefixes. */
const specialBlocks = (
  [
    [[0, 0, 0, 0], 8],
    [[10, 0, 0, 0], 8],
    [[100, 64, 0, 0], 10],
    [[127, 0, 0, 0], 8],
    [[169, 254, 0, 0], 16],
    [[172, 16, 0, 0], 12],
    [[192, 0, 0, 0], 24],
    [[192, 0, 2, 0], 24],
    [[192, 88, 99, 0], 24],
    [[192, 168, 0, 0], 16],
    [[198, 18, 0, 0], 15],
    [[198, 51, 100, 0], 24],
    [[203, 0, 113, 0], 24],
    [[224, 0, 0, 0], 3]
  ] as const
).map(([first, length]) => ({ first: toNumber(first), size: 2 ** (32 - length) }))

const isPublicIpv4 = (address: number): boolean =>
  !specialBlocks.some(({ first, size }) => address >= first && address < first + size)

const groupsIn = (text: string): ReadonlyArray<number> =>
  text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))

/** The eight groups of an address in the form of a URL, such as `64:ff9b::a00:1`. */
const expand = (text: string): ReadonlyArray<number> => {
  const [head, tail = ""] = text.split("::")
  const before = groupsIn(head)
  const after = groupsIn(tail)
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

/** Public addresses are in 2000::/3, apart from blocks for protocols and documentation. */
const isPublicIpv6 = (groups: ReadonlyArray<number>): boolean => {
  const [first, second] = groups
  // An address of NAT64 contains an address of IPv4.
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) {
    return isPublicIpv4(groups[6] * 0x10000 + groups[7])
  }
  const isGlobal = first >= 0x2000 && first <= 0x3fff
  const isProtocol = first === 0x2001 && second < 0x200
  const isDocumentation = (first === 0x2001 && second === 0xdb8) || (first === 0x3fff && second < 0x1000)
  return isGlobal && !isProtocol && !isDocumentation && first !== 0x2002
}

const privateNames = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa)$/

/**
 * Returns `true` for the name of a host, or its address, that may be on the public internet. The text is in the form of
 * `URL.hostname`, which has one form for all spellings of an address. A name is not resolved: a name without a dot, `localhost`
 * and names of private networks are not public.
 *
 * **Example**
 *
 * ```ts
 * import * as PublicHost from "@colloquy/core/client/PublicHost"
 *
 * PublicHost.isPublicHost("files.example.org") // => true
 * PublicHost.isPublicHost(new URL("http://2130706433/").hostname) // => false
 * PublicHost.isPublicHost("[::ffff:a00:1]") // => false
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isPublicHost = (hostname: string): boolean => {
  if (hostname.startsWith("[")) return isPublicIpv6(expand(hostname.slice(1, -1)))
  if (/^\d+\.\d+\.\d+\.\d+$/.test(hostname)) return isPublicIpv4(toNumber(hostname.split(".").map(Number)))
  const name = hostname.replace(/\.$/, "").toLowerCase()
  return name.includes(".") && !privateNames.test(name)
}
