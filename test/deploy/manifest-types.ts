/** Checks objects of a manifest with the Kubernetes types: unknown fields, missing fields, wrong values. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultsOf } from '../compiler.ts'
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

/** The compiler's messages for a module with this text. */
function diagnosticsOf(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-manifest-'))
  try {
    symlinkSync(join(root, 'test/node_modules'), join(folder, 'node_modules'), 'dir')
    const file = join(folder, 'manifest.ts')
    writeFileSync(file, text)
    const faults = faultsOf([file], folder, { skipLibCheck: true, module: 'ESNext', moduleResolution: 'Bundler' })
    return faults.map(({ line, text }) => `object ${line - 1}: ${text}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
