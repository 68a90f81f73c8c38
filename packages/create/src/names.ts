/** Whether npm accepts the name for a new package without a scope. */
export const isPackageName = (name: string): boolean => name.length <= 214 && /^[a-z0-9][a-z0-9._-]*$/.test(name)

/** Returns the closest valid name, or `undefined` if the name has no Latin letter and no digit. */
export const validNameFor = (name: string): string | undefined => {
  const valid = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|[._-]+$/g, "")
    .slice(0, 214)
  return valid === "" ? undefined : valid
}
