/** Publishes the packages whose versions are new, with provenance. A workflow calls it, because provenance names the repository. */
import { run } from "./internal/workspace.ts"

const { GITHUB_REPOSITORY: repository, GITHUB_SERVER_URL: server } = process.env

const step = (program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) => {
  const { ok, output } = run(program, args, { env })
  console.log(output.trimEnd())
  if (!ok) process.exit(1)
}

if (repository === undefined || server === undefined) {
  console.error("The release runs in a workflow of the repository: see .github/workflows/release.yml.")
  process.exit(1)
}

// Provenance is only accepted if the packed package names the repository that built it.
step("npm", ["pkg", "set", "--workspaces", "repository.type=git", `repository.url=git+${server}/${repository}.git`])
step("npm", ["run", "build"])
step("changeset", ["publish"], { NPM_CONFIG_PROVENANCE: "true" })
