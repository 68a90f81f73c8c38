/** Whether a host name is an address of this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(host.toLowerCase())

/** Whether a URL has the scheme `http` and an address of this machine. */
export const isLoopbackUrl = (url: string): boolean => {
  const host = /^http:\/\/([^/?#\s:[\]]+|\[[^\]\s]*\])(?::\d{1,5})?(?:[/?#]\S*)?$/i.exec(url)?.[1]
  return host !== undefined && isLoopbackHost(host)
}

/** Why the platform would reject the URL of a webhook, if it would. */
export const webhookUrlProblem = (url: string): string | undefined => {
  const authority = /^https:\/\/([^/?#\s]+)[^\s]*$/.exec(url)?.[1]
  if (authority === undefined) return "must be a complete https:// URL"
  return /:\d*$/.test(authority) ? "must not contain a port: the platform delivers to port 443" : undefined
}
