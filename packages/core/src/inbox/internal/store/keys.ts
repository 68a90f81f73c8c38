/** Returns a text without slashes, as a part of the key of a row. */
export const segment = (text: string): string => text.replace(/[%/]/g, encodeURIComponent)

/** Returns the text of a {@link segment}. */
export const textOfSegment = (text: string): string => text.replace(/%(?:25|2F)/g, decodeURIComponent)
