/**
 * Types of Grafana's dashboards for their JSON: the types of `@grafana/schema`, with the values of enumerations in place of the
 * enumerations. Grafana fills in options that a panel leaves out.
 */
const types = `
import type { Dashboard, FieldConfig, Panel, RowPanel } from "@grafana/schema"
import type { Options as Stat } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen"
import type { Options as TimeSeries } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen"

type Json<T> = T extends string ? \`\${T}\`
  : T extends number ? (number extends T ? number : \`\${T}\` extends \`\${infer N extends number}\` ? N : never)
  : T extends (infer E)[] ? Json<E>[]
  : T extends object ? { [K in keyof T]: Json<T[K]> }
  : T

type Partly<T> = T extends (infer E)[] ? Partly<E>[] : T extends object ? { [K in keyof T]?: Partly<T[K]> } : T

interface Query {
  refId: string
  expr: string
  legendFormat: string
  datasource: { type: "prometheus"; uid: string }
}

type Of<Type extends string, Options> = Omit<Json<Panel>, "type" | "options" | "targets" | "fieldConfig"> & {
  type: Type
  options?: Json<Partly<Options>>
  targets: Query[]
  fieldConfig: { defaults: Json<FieldConfig>; overrides: [] }
}

// The Prometheus data source has these fields of its own.
type Annotation = NonNullable<NonNullable<Json<Dashboard>["annotations"]>["list"]>[number] & {
  expr: string
  step: string
  titleFormat: string
  textFormat: string
  useValueForTime: boolean
}

type Checked = Omit<Json<Dashboard>, "annotations" | "panels"> & {
  annotations: { list: Annotation[] }
  panels: (Json<RowPanel> | Of<"stat", Stat> | Of<"timeseries", TimeSeries>)[]
}
`

/** A program that compiles if a dashboard has the types, and if each altered dashboard has not. */
export const programOf = (dashboard: string, altered: ReadonlyArray<string>): string =>
  [
    types,
    `export const dashboard: Checked = ${dashboard}`,
    ...altered.map((text, index) => `// @ts-expect-error\nexport const altered${index}: Checked = ${text}`)
  ].join("\n")
