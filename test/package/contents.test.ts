/** The published files, by rule: everything that a user needs, and nothing else. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules, isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack, packageNpm, stagePackage } from '../../scripts/package/npm.ts'
import { filesBelow } from '../../scripts/sources.ts'
import { writeDeclarations } from '../compiler.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'newcut-contents-'))
const stage = join(folder, 'stage')
let paths: readonly string[]
let manifest: Readonly<Record<string, Record<string, string>>>

beforeAll(async () => {
  writeDeclarations()
  expect(await stagePackage(stage)).toBeNull()
  const packed = pack(['--dry-run'], stage)
  if (typeof packed === 'string') throw new Error(packed)
  paths = packed.files.map(({ path }) => path)
  manifest = JSON.parse(textOf('package.json'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const textOf = (path: string) => readFileSync(join(stage, path), 'utf8')

/** Each file has a purpose: it runs, the program reads it, other programs compile against it, or people read it. */
const RULES: readonly RegExp[] = [
  /^dist\/src\/bundled\/[\w-]+\.js$/,
  /^dist\/packages\/[\w-]+\.(js|cjs)$/,
  /^dist\/packages\/piscina\/(index|worker)\.js$/,
  /^dist\/packages\/classic-level\/(index\.js|prebuilds\/(darwin|linux|win32)-[\w+]+\/classic-level[\w.]*\.node)$/,
  /^dist\/packages\/node-api-headers\/(index\.cjs|include\/\w+\.h)$/,
  /^dist\/LICENSES\.txt$/,
  // Programs, entries and bundled packages, at the places of their modules.
  /^dist\/src\/main\.js$/,
  /^dist\/src\/(client|compose|devnet|faces|ground|language|mining)\/[\w/-]+\/?[\w-]+\.js$/,
  /^dist\/bench\/[\w/-]+-(child|load|thread|worker|server|proxy)\.js$/,
  /^dist\/src\/(client|compose|devnet|ground|language)\/[\w/-]+\.d\.ts$/,
  /^prebuilds\/(linux-x64|linux-arm64|win32-x64)\/newcut-kernel\.node$/,
  /^networks\/[\w-]+\.yaml$/,
  /^examples\/starter\/[\w/.-]+$/,
  /^conformance\/(clients\/|schema\/)?[a-z]+\.json$/,
  /^bench\/(cuda\/search\.cu|README\.md)$/,
  /^src\/language\/contracts\/system\/[\w-]+\.pact$/,
  /^src\/mining\/engine\/(cpu|gpu|stratum)\/native\/[\w-]+\.(js|c|h)$/,
  /^dist\/src\/faces\/web\/[a-z-]+\/served\/[\w-]+\.(html|css|svg)$/,
  /^dist\/src\/faces\/web\/dashboard\/kept\/(LICENSE|[\w.]+\.(css|js))$/,
  /^shaders\/search\.wgsl$/,
  /^docs\/[A-Z-]+\.md$/,
  /^dist\/newcut\.1$/,
  /^(README|CHANGELOG|SECURITY)\.md$/,
  /^(LICENSE|package\.json)$/,
]

/** Files at the places of modules: programs that newcut starts, entries, and packages that the build has bundled. */
const MOST_PLACES = 40

/** Packages that the project of a user has, if it needs them. */
const OF_USERS = ['@jest/globals', 'vitest']

describe('the published package', () => {
  it('the published package has files of these kinds only: no tests, scripts, sources in TypeScript or source maps', () => {
    expect(paths.filter((path) => !RULES.some((rule) => rule.test(path)))).toEqual([])
    for (const rule of RULES.filter(({ source }) => !source.startsWith('^prebuilds'))) {
      expect(
        paths.some((path) => rule.test(path)),
        String(rule),
      ).toBe(true)
    }
    expect(filesBelow(stage).filter((path) => !paths.includes(path))).toEqual([])
    const atPlaces = paths.filter((path) => /^dist\/(src|bench)\/(?!bundled|faces).*\.js$/.test(path))
    expect(atPlaces.length).toBeLessThan(MOST_PLACES)
  })

  it('the published package has every module that its modules import, and needs no other package', async () => {
    const scripts = paths.filter((path) => /\.c?js$/.test(path) && !/\/(served|kept)\//.test(path))
    const outside = new Set<string>()
    await build({
      input: scripts.map((path) => join(stage, path)),
      platform: 'node',
      write: false,
      plugins: [
        {
          name: 'packages are outside',
          resolveId: (id, from) => {
            if (from === undefined || /^[./\0]/.test(id) || isBuiltin(id)) return null
            outside.add(id)
            return { id, external: true }
          },
        },
      ],
      onLog: (_level, { code, message }) => {
        if (code === 'UNRESOLVED_IMPORT') throw new Error(message)
      },
    })
    // Libraries name what they work with, if a program has it.
    const optional = ['@napi-rs/nice', '@fastify/swagger', '@opentelemetry/api', 'bufferutil', 'utf-8-validate']
    const unknown = [...outside].filter((name) => !builtinModules.includes(name) && !optional.includes(name))
    expect(unknown.toSorted()).toEqual(OF_USERS)
  })

  it('the published package has every program and package that its modules name by their own place', () => {
    const bundled = paths.filter((path) => path.startsWith('dist/src/bundled/'))
    const programs = bundled.flatMap((path) =>
      [
        ...textOf(path).matchAll(
          /(?<!from |import |import\()"\.\/((?:[\w-]+-)?(?:thread|child|load|worker|server|proxy))\.js"/g,
        ),
      ].map(([, name]) => name),
    )
    expect(new Set(programs).size).toBeGreaterThan(10)
    const isThere = (name: string) => paths.some((path) => !bundled.includes(path) && path.endsWith(`/${name}.js`))
    expect(programs.filter((name) => !isThere(name))).toEqual([])
    const required = bundled.flatMap((path) =>
      [...textOf(path).matchAll(/createRequire\(new URL\("([^"]+)", [^)]*\)\.href\)\("([^"]+)"\)/g)].map(
        ([, place, name]) => join(dirname(path), dirname(place), name),
      ),
    )
    expect(required.length).toBeGreaterThan(4)
    expect(required.filter((path) => !paths.includes(path))).toEqual([])
  })

  it('the published package has all types that its entry points lead to', () => {
    const reached = new Set<string>()
    const visit = (path: string) => {
      if (reached.has(path)) return
      reached.add(path)
      for (const [, name] of textOf(path).matchAll(/(?:from |import\()['"]([.#][^'"]+)['"]/g)) {
        const file = name.replace(/\.(ts|js)$/, '.d.ts')
        visit(file.startsWith('#') ? `dist/src/${file.slice(1)}` : join(dirname(path), file))
      }
    }
    const doors = Object.values<{ types?: string } | string>(manifest.exports).flatMap((door) =>
      typeof door === 'string' || door.types === undefined ? [] : [door.types],
    )
    for (const door of doors) visit(join(door))
    expect(doors.length).toBe(9)
    expect([...reached].toSorted()).toEqual(
      paths.filter((path) => path.endsWith('.d.ts') && path.startsWith('dist/')).toSorted(),
    )
  })

  it('the published package has every file that package.json names', () => {
    const { bin, exports, man } = manifest
    const named = [
      ...Object.values<string>(bin),
      String(man),
      ...Object.values<string | { default: string }>(exports).map((door) =>
        typeof door === 'string' ? door : door.default,
      ),
    ].map((path) => join(path))
    expect(named.length).toBeGreaterThan(6)
    expect(named.filter((path) => !paths.includes(path))).toEqual([])
    expect(statSync(join(stage, manifest.bin.newcut)).mode & 0o111).toBe(0o111)
  })

  it('the published package runs no script at installation, and depends on its types only', () => {
    expect(Object.keys(manifest)).not.toContain('scripts')
    expect(Object.keys(manifest)).not.toContain('private')
    expect(Object.keys(manifest.dependencies)).toEqual(['typebox'])
    const { scripts = {} } = JSON.parse(readFileSync(join(root, 'node_modules/typebox/package.json'), 'utf8'))
    expect(Object.keys(scripts).filter((name) => /install$/.test(name))).toEqual([])
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }])),
    )
  })

  it('the published package has the licenses of the packages in its files', () => {
    const licenses = textOf('dist/LICENSES.txt')
    const named = [...licenses.matchAll(/^== (\S+)/gm)].map(([, name]) => name)
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies).filter((name) => !named.includes(name))).toEqual([])
    expect(licenses).not.toContain(root)
    expect(named[0]).toBe('newcut')
  })

  it('an import of the package itself names all its entries', async () => {
    const name = 'newcut'
    const reason = await import(name).catch((error) => error.message)
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== '.' && !entry.endsWith('.json'))
    expect(reason.match(/newcut\/[\w/]+/g).sort()).toEqual(entries.map((entry) => join('newcut', entry)).sort())
  })

  it('the package is not made with a kernel of other sources', async () => {
    const kernels = join(folder, 'other')
    mkdirSync(join(kernels, 'prebuilds/linux-x64'), { recursive: true })
    writeFileSync(join(kernels, 'prebuilds/linux-x64/newcut-kernel.node'), 'newcut kernel of other sources')
    const output = join(folder, 'output')
    expect(await packageNpm([], { folder: output, kernels })).toBe(1)
    expect(existsSync(join(output, 'newcut-0.1.0.tgz'))).toBe(false)
    expect(filesBelow(output)).toEqual([])
  })

  it('the package is made from no argument', async () => {
    expect(await packageNpm(['all'])).toBe(2)
  })
})
