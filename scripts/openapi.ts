/** Prints the OpenAPI document of the platform. */
import { Endpoints } from "@colloquy/core"
import * as OpenApi from "@colloquy/core/OpenApi"

console.log(JSON.stringify(OpenApi.fromEndpoints(Endpoints.all), undefined, 2))
