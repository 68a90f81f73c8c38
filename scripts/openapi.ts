/** Prints the OpenAPI document of the platform. */
import * as Endpoints from "@colloquy/core/Endpoints"
import * as OpenApi from "@colloquy/core/OpenApi"

console.log(JSON.stringify(OpenApi.fromEndpoints(Endpoints.all), undefined, 2))
