/** Returns a text without slashes, as a part of the key of a row. */
export const segment = (text: string): string => text.replace(/[%/]/g, encodeURIComponent)
