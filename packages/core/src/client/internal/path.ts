/** Returns the field of the request that is a parameter of a path. */
export const paramKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
