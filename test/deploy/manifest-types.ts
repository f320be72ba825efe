/** Checks objects of a manifest with the Kubernetes types: unknown fields, missing fields, wrong values. */
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './tools.ts'

/** The kinds of the manifest, and the module of `kubernetes-types` with the type of each. */
const modules: Readonly<Record<string, string>> = {
  'v1/ConfigMap': 'core/v1',
  'v1/Namespace': 'core/v1',
  'v1/Service': 'core/v1',
  'apps/v1/DaemonSet': 'apps/v1',
  'apps/v1/StatefulSet': 'apps/v1',
  'networking.k8s.io/v1/NetworkPolicy': 'networking/v1',
  'policy/v1/PodDisruptionBudget': 'policy/v1',
  'scheduling.k8s.io/v1/PriorityClass': 'scheduling/v1',
}

/** One line for each complaint, none if all objects are valid. An unknown kind is a complaint too. */
export function complaintsAbout(objects: readonly unknown[]): string[] {
  const unknown: string[] = []
  const lines = objects.map((object, index) => {
    const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
    const module = modules[`${apiVersion}/${kind}`]
    if (module === undefined) unknown.push(`object ${index}: ${apiVersion} ${kind} is not looked at`)
    // The types make apiVersion, kind and metadata optional; every object must have them.
    const type = `import('kubernetes-types/${module}').${kind} & { apiVersion: string; kind: string; metadata: object }`
    return module === undefined ? '' : `export const object${index}: ${type} = ${JSON.stringify(object)}`
  })
  return [...unknown, ...diagnosticsOf(lines.join('\n'))]
}

/** Cache of the package files, which do not change. */
const packaged = new Map<string, ts.SourceFile | undefined>()

/** The compiler's messages for a module with this text. The text has a virtual path from which the packages resolve. */
function diagnosticsOf(text: string): string[] {
  const path = join(root, 'test/deploy/manifest.generated.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => name === path || fileExists(name)
  host.getSourceFile = (name, ...rest) => {
    if (name === path) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
    const file = packaged.get(name) ?? getSourceFile(name, ...rest)
    packaged.set(name, file)
    return file
  }
  const program = ts.createProgram([path], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ start = 0, messageText }) => {
    const line = text.slice(0, start).split('\n').length - 1
    return `object ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
