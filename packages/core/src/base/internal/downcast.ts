/**
 * Returns a value of a type as a value of a subtype. The implementation of a function often does not know the type
 * parameters of its result, such as the errors of the effects in it. The compiler refuses types that are no subtypes.
 */
export const downcast = <From, To extends From>(value: From): To => value as To
