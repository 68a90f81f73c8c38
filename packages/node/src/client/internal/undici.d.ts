// The files of undici that are loaded without its index. The package declares types for the index only.
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici/index.js"
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici/index.js"
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici/index.js"
}
declare module "undici/lib/core/errors.js" {
  export { errors as default } from "undici/index.js"
}
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici/index.js"
  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions
  ): Promise<Dispatcher.ResponseData>
}
declare module "undici/lib/api/api-connect.js" {
  import type { Dispatcher } from "undici/index.js"
  const connect: Dispatcher["connect"]
  export default connect
}
declare module "undici/lib/web/fetch/formdata.js" {
  import type * as Undici from "undici/index.js"
  const forms: Pick<typeof Undici, "FormData">
  export default forms
}
