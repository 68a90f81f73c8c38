import { safeUrl } from "./format.ts"

/** A link to another site, or its label if the address is not safe. */
export const ExternalLink = ({ label, url }: { readonly url: string | null | undefined; readonly label: string }) => {
  const href = safeUrl(url)
  return href === undefined ? (
    <span>{label}</span>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  )
}
