/** Returns the user of a scope. */
export const userOfScope = (scope: string): string | undefined => /(?:^|\/)(user:[^/]+)$/.exec(scope)?.[1]
