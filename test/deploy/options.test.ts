/**
 * The program accepts every newcut command line in deploy/, with its options, variables and values. The command-line
 * parser reads each line, but no command runs.
 */
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { environmentName, negatedName, type OptionSpec } from '../../src/faces/cli/options/row.ts'
import { optionTables } from '../../src/faces/cli/options/table.ts'
import { runProgram } from '../../src/faces/cli/program.ts'
import { silentContext } from '../cli/silent-context.ts'
import { filesIn, read, yamlDocuments } from './tools.ts'

interface CommandLine {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** Sample values for the placeholders that users fill in. */
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/\bKEY\b/g, 'ab'.repeat(32)],
  [/\bHOST\b/g, 'example.org'],
  [/\bRIG\b/g, 'rig-1'],
]
const filled = (text: string) => PLACEHOLDERS.reduce((before, [word, value]) => before.replace(word, value), text)

/** Sample values for variables that are set elsewhere. */
const SAMPLES: Readonly<Record<string, string>> = {
  NATS_PASSWORD: '12e4',
  NEWCUT_ACCOUNT: 'k:someone',
  NEWCUT_FLEET: 'nats://newcut:12e4@example.org:4222',
  NEWCUT_HTTP_TOKEN: 'a-token-of-a-leader',
  NEWCUT_NATS: 'nats://newcut:12e4@example.org:4222',
  NEWCUT_NODE: 'http://example.org:1848',
  NEWCUT_PUBLIC_KEY: 'ab'.repeat(32),
  // The form of host names in clusters at Amazon.
  NEWCUT_RIG: 'ip-10-0-1-23.eu-central-1.compute.internal',
  NEWCUT_NATS_CREDS: '/run/credentials/newcut-rig.service/nats.creds',
  NEWCUT_THREADS: '4',
  NEWCUT_STRATUM_LISTEN: '0.0.0.0:1917',
  NEWCUT_HTTP: '127.0.0.1:4150',
}

/** Host names of cluster nodes at Amazon, Google and Microsoft, and the longest name that a host may have. */
const MACHINES = [
  'ip-10-0-1-23.eu-central-1.compute.internal',
  'i-0f1e2d3c4b5a69788.us-gov-west-1.compute.internal',
  'gke-mining-default-pool-3c2a9d4e-x7k2',
  'gke-a-cluster-with-a-long-name-and-so-on-a-pool-of-nodes-8f1b2c3d-qwer',
  'aks-nodepool1-12345678-vmss00000a',
  `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`,
]

function sample(name: string): string {
  const value = SAMPLES[name]
  if (value === undefined) throw new Error(`the test has no value for ${name}`)
  return value
}

/** The program's verdict: exit code 0 without output, or 2 with the reason. */
async function verdictOn({ args, environment }: CommandLine) {
  let said = ''
  const output = {
    write: (text: string) => {
      said += text
      return true
    },
  }
  const rows = commandRows.map((row) => ({ ...row, run: () => 0 }))
  const code = await runProgram(args, { ...silentContext, out: output, err: output, environment }, rows)
  return { code, said }
}

/** Command lines of a compose file; the second file overrides the first. */
function composeLines(...files: readonly string[]): [string, CommandLine][] {
  type Services = Record<string, { image?: string; command?: string[]; environment?: Record<string, string | null> }>
  const [base, ...others] = files.map((file) => {
    const [{ services }] = yamlDocuments(read(file)) as [{ services: Services }]
    return services
  })
  return Object.entries(base)
    .filter(([, { image }]) => image?.includes('newcut'))
    .map(([name, { command = [], environment = {} }]) => {
      const all = Object.assign({}, environment, ...others.map((services) => services[name]?.environment))
      const values = Object.entries<string | null>(all).map(([variable, value]) => {
        const known = (value ?? sample(variable)).replace(/\$\{(\w+):[-?]([^}]*)\}/g, (_text, used) => sample(used))
        return [variable, known] as const
      })
      return [`${basename(files.at(-1) ?? '')}, ${name}`, { args: command, environment: Object.fromEntries(values) }]
    })
}

/** Command lines of the containers in a manifest. */
function manifestLines(file: string): [string, CommandLine][] {
  interface Container {
    readonly name: string
    readonly image: string
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string }[]
    readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  }
  interface KubernetesObject {
    readonly kind: string
    readonly metadata: { readonly name: string }
    readonly data?: Readonly<Record<string, string>>
    readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } }
  }
  const objects = yamlDocuments(read(`deploy/kubernetes/${file}`)) as KubernetesObject[]
  const mapOf = (wanted: string) =>
    objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === wanted)?.data ?? {}
  return objects
    .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
    .filter(({ image }) => image.includes('newcut'))
    .map(({ name, args, env, envFrom = [] }) => {
      const mapped = envFrom.flatMap(({ configMapRef }) => Object.entries(mapOf(configMapRef.name)))
      const own = env.map((variable) => {
        const value = variable.value ?? sample(variable.name)
        return [variable.name, value.replace(/\$\((\w+)\)/g, (_text, used) => sample(used))]
      })
      const environment = Object.fromEntries([...mapped.map(([key, value]) => [key, filled(value)]), ...own])
      return [`${file}, ${name}`, { args, environment }]
    })
}

/** Command lines of systemd units, with the variables that their comments name. */
function unitLines(): [string, CommandLine][] {
  return filesIn('deploy/systemd')
    .filter((path) => path.endsWith('.service'))
    .flatMap((path) => {
      const text = read(path)
      const [, line] = /^ExecStart=\/usr\/bin\/env newcut (.*)$/m.exec(text) ?? []
      const named = [...text.matchAll(/\b(NEWCUT_[A-Z_]+)=/g)].map(([, name]) => name)
      // The configuration file does not exist here, and its contents do not matter.
      const args = line.replace(/--config \S+ /, '').split(' ')
      const lineWith = (names: readonly string[]) => ({
        args,
        environment: Object.fromEntries(names.map((name) => [name, sample(name)])),
      })
      // A unit that accepts either a node or a fleet is checked with each.
      if (!(named.includes('NEWCUT_NODE') && named.includes('NEWCUT_FLEET'))) return [[basename(path), lineWith(named)]]
      return [
        [`${basename(path)}, of a node`, lineWith(named.filter((name) => !OF_FLEET.has(name)))],
        [`${basename(path)}, of a fleet`, lineWith(named.filter((name) => !OF_NODE.has(name)))],
      ]
    })
}

const OF_NODE: ReadonlySet<string> = new Set(['NEWCUT_NODE', 'NEWCUT_PUBLIC_KEY'])
const OF_FLEET: ReadonlySet<string> = new Set(['NEWCUT_FLEET', 'NEWCUT_NATS_CREDS'])

/** Commands that people should type: after a comment sign or an indent, in a container, or with the image. */
function proseLines(): [string, CommandLine][] {
  const START = /^(?:newcut|.*(?: exec \S+(?: --)? newcut| newcut:local)) ([a-z].*)$/
  return filesIn('deploy')
    .filter((path) => !/\.(js|service)$/.test(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line) => {
          const [, words] = START.exec(line.replace(/^#? {2,}/, '')) ?? []
          if (words === undefined) return []
          // Two spaces separate the command from its explanation.
          const [typed] = words.split(/ {2}/)
          return [
            [`${path}: newcut ${typed}`, { args: filled(typed).split(' '), environment: {} }] as [string, CommandLine],
          ]
        }),
    )
}

const lines = [
  ...composeLines('deploy/compose/compose.yaml'),
  ...composeLines('deploy/compose/compose.yaml', 'deploy/compose/compose.remote.yaml'),
  ...manifestLines('newcut.yaml'),
  ...manifestLines('relay.yaml'),
  ...unitLines(),
  ...proseLines(),
]

describe('the program accepts', () => {
  it.each(lines)('the program accepts %s', async (_where, line) => {
    expect(await verdictOn(line)).toEqual({ code: 0, said: '' })
  })

  it.each(MACHINES)('the program accepts a machine named %s as the rig of the manifest', async (NEWCUT_RIG) => {
    const [, rig] = lines.find(([name]) => name === 'newcut.yaml, rig') ?? []
    if (rig === undefined) throw new Error('no rig')
    const line = { ...rig, environment: { ...rig.environment, NEWCUT_RIG } }
    expect(await verdictOn(line)).toEqual({ code: 0, said: '' })
  })

  it('the program accepts only its own options, values and variables', async () => {
    const [, devnet] = lines.find(([name]) => name === 'compose.yaml, devnet') ?? []
    if (devnet === undefined) throw new Error('no devnet')
    expect(await verdictOn(devnet)).toMatchObject({ code: 0 })
    const wrong = [
      { ...devnet, args: [...devnet.args, '--hosts', 'a'] },
      { ...devnet, args: ['devnets'] },
      { ...devnet, environment: { NEWCUT_PORT: 'any' } },
      { ...devnet, environment: { NEWCUT_SERVICE_HOST: '10.0.0.1' } },
    ]
    for (const line of wrong) expect((await verdictOn(line)).code, JSON.stringify(line)).toBe(2)
  })
})

it('the test finds lines of every kind', () => {
  const found = (part: string) => lines.filter(([where]) => where.includes(part)).length
  expect(found('compose.yaml, ')).toBe(6)
  expect(found('compose.remote.yaml, ')).toBe(6)
  expect(found('newcut.yaml, ')).toBe(3)
  expect(found('relay.yaml, ')).toBe(1)
  expect(found('.service')).toBe(5)
  expect(found(': newcut fleet')).toBeGreaterThan(1)
  expect(found('Containerfile: newcut mine')).toBe(1)
})

it('every NEWCUT variable in deploy/ belongs to an option', () => {
  const known = new Set(
    optionTables.flatMap((table) =>
      Object.entries(table).flatMap(([name, entry]) => {
        const spec = entry as OptionSpec<unknown>
        const names = [name, negatedName(name, spec) ?? spec.plural ?? name]
        return spec.isFlagOnly ? [] : names.map(environmentName)
      }),
    ),
  )
  const named = filesIn('deploy').flatMap((path) =>
    [...read(path).matchAll(/\bNEWCUT_[A-Z_]*[A-Z]\b/g)].map(([name]) => [path, name] as const),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(([, name]) => !known.has(name))).toEqual([])
})
