/** Prints the OpenAPI document of the platform. */
import { Endpoints } from "@colloquy/core"
import { OpenApi } from "@colloquy/testing"

console.log(JSON.stringify(OpenApi.fromEndpoints(Endpoints.all), undefined, 2))
