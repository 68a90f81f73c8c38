/** A worker that does nothing but respond. */
export default { fetch: () => new Response(null) }
