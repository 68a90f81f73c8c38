// The files of undici that are loaded without its index. The package declares types for the index only.
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici/index.js"
}
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici/index.js"
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions
  ): Promise<Dispatcher.ResponseData>
}
