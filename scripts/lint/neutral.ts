/** Lint rules for platform-neutral sources, which use effects instead of promises and exceptions. */
interface Node {
  readonly async?: boolean
}

interface Context {
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void
}

const noAsync = {
  create: (context: Context) => {
    const check = (node: Node) => {
      if (node.async === true) context.report({ node, message: "An async function; asynchrony is an Effect here." })
    }
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
      AwaitExpression: (node: Node) => context.report({ node, message: "await; asynchrony is an Effect here." })
    }
  }
}

const noTry = {
  create: (context: Context) => ({
    TryStatement: (node: Node) =>
      context.report({ node, message: "try; failure is a value here (Effect.try, Result.try)." })
  })
}

export default { meta: { name: "neutral" }, rules: { "no-async": noAsync, "no-try": noTry } }
