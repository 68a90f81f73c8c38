/** Prints the OpenAPI document of the platform. */
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as OpenApi from "@colloquy/core/tools/OpenApi"

console.log(JSON.stringify(OpenApi.fromEndpoints(Endpoints.all), undefined, 2))
