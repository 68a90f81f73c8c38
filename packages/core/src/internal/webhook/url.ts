/** What the platform would say of the address of a webhook. */
export const problemOfUrl = (url: string): string | undefined => {
  const authority = /^https:\/\/([^/?#\s]+)[^\s]*$/.exec(url)?.[1]
  if (authority === undefined) return "must start with https:// and be a whole address"
  return /:\d*$/.test(authority) ? "must not name a port: the platform delivers to 443" : undefined
}

/** What an emulator on this machine takes besides. */
export const loopbackUrl = /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?([/?#]\S*)?$/
