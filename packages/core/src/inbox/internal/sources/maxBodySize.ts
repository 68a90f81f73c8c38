/** Maximum size of a body, in bytes. */
export const maxBodySize: number = 2 ** 20
