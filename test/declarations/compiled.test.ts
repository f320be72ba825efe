/** TypeScript compiles what `newcut types` makes, and programs that use it. All are compiled at once. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run, stopAll } from '../cli/run.ts'
import { type Fault, faultsOf, writeDeclarations } from '../compiler.ts'
import { startTokenNetwork } from './token.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-types-'))

const WALLET = `import { callsOf, type Capability as Granted } from 'newcut/wallet'
import type { AnyCapability, Capabilities, Functions, Tables } from './types.d.ts'
const call = callsOf<Functions>()
export const codes: string[] = [
  call('free.token.quote', { decimal: '1.5' }),
  call('free.token.open', 'alice', () => '(read-keyset "ks")', new Date(0)),
  call('free.token.place', { owner: 'a', rate: { value: { decimal: '1.0' }, at: new Date(0), tags: ['x'] }, lots: [{ int: 1 }] }),
  call('coin.get-balance', 'alice'),
]
const transfer: Capabilities['free.token.TRANSFER'] = { name: 'free.token.TRANSFER', args: ['a', 'b', { decimal: '1.0' }] }
const any: AnyCapability[] = [transfer, { name: 'coin.GAS', args: [] }]
export const granted: Granted[] = any
export const row: Tables['free.token.accounts'] = {
  balance: { decimal: '1.0' }, guard: { keysetref: { ns: 'free', ksn: 'k' } }, nonce: { int: 1 },
}
`
const WRONG_WALLET = `call('free.token.quote', '1.5')
call('free.token.quote')
call('free.token.echo', { int: 1 }, 'yes')
call('free.token.absent')
call('free.token.place', { owner: 'a' })
export const bad: AnyCapability = { name: 'free.token.TRANSFER', args: ['a', 'b', '1.0'] }
export const short: AnyCapability = { name: 'free.token.TRANSFER', args: ['a'] }
export const none: AnyCapability = { name: 'free.token.NONE', args: [] }
`
const CLIENT = `import { Pact, readKeyset } from '@kadena/client'
import type {} from './types.d.ts'
const { modules, builder } = Pact
export const command = builder
  .execution(modules['free.token'].pay(() => 'coin', 'alice', { decimal: '1.5' }))
  .addSigner('key', (withCapability) => [
    withCapability('coin.GAS'),
    withCapability('free.token.TRANSFER', 'a', 'b', { decimal: '1.0' }),
    withCapability('coin.TRANSFER', 'a', 'b', { decimal: '1.0' }),
  ])
modules['free.token'].open('alice', readKeyset('ks'), new Date(0))
modules['free.token'].defpact.swap('a', 'b')
`
const WRONG_CLIENT = `modules['free.token'].quote('1.5')
modules['free.token'].absent()
builder.execution(modules['free.token'].quote({ decimal: '1.5' })).addSigner('key', (cap) => [
  cap('free.token.TRANSFER', 'a', 'b', '1.0')])
`
const ALONE = `import type { Functions } from './types.d.ts'
export const result: Functions['free.token.echo']['result'] = { int: 1 }
`

type Resolution = 'NodeNext' | 'Bundler'

/** A program, the declarations beside it, and which of its last lines are wrong. */
interface Program {
  readonly text: string
  readonly types: 'module' | 'files'
  readonly resolution: Resolution
  readonly wrongLines: readonly number[]
  /** Whether @kadena/client is not installed. */
  readonly alone?: true
}

const both = (['NodeNext', 'Bundler'] as const).flatMap((resolution): [string, Program][] => [
  [`Pact.modules of @kadena/client (${resolution})`, { text: CLIENT, types: 'module', resolution, wrongLines: [] }],
  [
    `errors in calls of @kadena/client (${resolution})`,
    { text: CLIENT + WRONG_CLIENT, types: 'module', resolution, wrongLines: linesAfter(CLIENT, [0, 1, 3]) },
  ],
])
const nodeNext = { resolution: 'NodeNext', wrongLines: [] } as const
const programs: readonly [title: string, program: Program][] = [
  ['declarations of a deployed module', { text: 'export {}', types: 'module', ...nodeNext }],
  ['declarations of files', { text: 'export {}', types: 'files', ...nodeNext }],
  ['functions, capabilities and tables for newcut/wallet', { text: WALLET, types: 'module', ...nodeNext }],
  [
    'errors in them',
    {
      text: WALLET + WRONG_WALLET,
      types: 'module',
      resolution: 'NodeNext',
      wrongLines: linesAfter(WALLET, [0, 1, 2, 3, 4, 5, 6, 7]),
    },
  ],
  ...both,
  ['a project without @kadena/client', { text: ALONE, types: 'module', ...nodeNext, alone: true }],
]

/** Lines of a text that follows another one. */
function linesAfter(text: string, lines: readonly number[]): number[] {
  return lines.map((line) => text.split('\n').length + line)
}

/** Programs of a project. Declarations extend types of @kadena/client, so those of one module are in it once. */
const projectOf = ({ resolution, types }: Program) => `${resolution} ${types}`
/** Faults by project. */
const faults = new Map<string, readonly Fault[]>()
const folderOf = (i: number) => join(folder, programs[i][1].alone ? 'alone' : 'installed', String(i))

beforeAll(async () => {
  writeDeclarations()
  const devnet = await startTokenNetwork(folder)
  const declared = { module: ['free.token'], files: [join(folder, 'library.pact'), join(folder, 'token.pact')] }
  for (const [name, args] of Object.entries(declared)) {
    const ended = await run(['types', ...args, '--out', join(folder, `${name}.d.ts`)], { NEWCUT_NODE: devnet.url })
    expect(ended).toMatchObject({ code: 0, err: '' })
  }
  await devnet.close()
  for (const place of ['installed', 'alone']) {
    mkdirSync(join(folder, place, 'node_modules'), { recursive: true })
    symlinkSync(root, join(folder, place, 'node_modules/newcut'))
    writeFileSync(join(folder, place, 'package.json'), '{"type":"module"}')
  }
  symlinkSync(join(root, 'test/node_modules/@kadena'), join(folder, 'installed/node_modules/@kadena'))
  for (const [i, [, { text, types }]] of programs.entries()) {
    mkdirSync(folderOf(i))
    writeFileSync(join(folderOf(i), 'types.d.ts'), readFileSync(join(folder, `${types}.d.ts`)))
    writeFileSync(join(folderOf(i), 'program.ts'), text)
  }
  for (const [, first] of programs) {
    const { resolution } = first
    const files = programs.flatMap(([, program], i) => {
      const names = ['program.ts', 'types.d.ts'].map((name) => join(folderOf(i), name))
      return projectOf(program) === projectOf(first) ? names : []
    })
    if (faults.has(projectOf(first))) continue
    const module = resolution === 'NodeNext' ? 'NodeNext' : 'ESNext'
    const options = { skipLibCheck: false, lib: ['ES2022'], target: 'ES2022', module, moduleResolution: resolution }
    faults.set(projectOf(first), faultsOf(files, folder, options))
  }
})
afterAll(async () => {
  await stopAll()
  rmSync(folder, { recursive: true })
})

it.each(programs.map(([title, program], i) => [title, program, i] as const))(
  'TypeScript compiles %s as expected',
  (_, program, i) => {
    const { wrongLines } = program
    const found = (faults.get(projectOf(program)) ?? []).filter(({ file }) => file.startsWith(`${folderOf(i)}/`))
    expect(
      found.map(({ file, line, code, text }) => (wrongLines.includes(line) ? line : { file, line, code, text })),
    ).toEqual(wrongLines)
  },
)

it('TypeScript finds no fault outside of the programs', () => {
  const inside = (file: string) => programs.some((_, i) => file.startsWith(`${folderOf(i)}/`))
  expect([...faults.values()].flat().filter(({ file }) => !inside(file) && !file.includes('/node_modules/'))).toEqual(
    [],
  )
})
