/** The published files, by rule: everything that a user needs, and nothing else. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { writeManual } from '../../scripts/package/manual.ts'
import { pack, staleFiles } from '../../scripts/package/npm.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
writeManual(root)
const packed = pack(['--dry-run'])
if (typeof packed === 'string') throw new Error(packed)
const paths = packed.files.map(({ path }) => path)

/** Each file has a purpose: it runs, the program reads it, other programs compile against it, or people read it. */
const RULES: readonly RegExp[] = [
  /^dist\/(src|bench)\/[\w/-]+\.js$/,
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
  /^src\/ground\/platform\/install\.js$/,
  /^shaders\/search\.wgsl$/,
  /^docs\/[A-Z-]+\.md$/,
  /^dist\/newcut\.1$/,
  /^(README|CHANGELOG|SECURITY)\.md$/,
  /^(LICENSE|package\.json)$/,
]

describe('the published package', () => {
  it('the published package has files of these kinds only: no tests, scripts, sources in TypeScript or source maps', () => {
    expect(paths.filter((path) => !RULES.some((rule) => rule.test(path)))).toEqual([])
    for (const rule of RULES.filter(({ source }) => !source.startsWith('^prebuilds'))) {
      expect(
        paths.some((path) => rule.test(path)),
        String(rule),
      ).toBe(true)
    }
  })

  it('the published package has every compiled module, and none whose source is gone', () => {
    const sources = ['src', 'bench'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter(
          (name) =>
            name.endsWith('.ts') && !name.endsWith('.d.ts') && !/^faces\/web\/(?:[a-z-]+\/browser|kit)\//.test(name),
        )
        .map((name) => `dist/${folder}/${name.replace(/\.ts$/, '.js')}`),
    )
    expect(sources.filter((path) => !paths.includes(path))).toEqual([])
    // The modules of pages are in their scripts.
    expect(paths.filter((path) => /^dist\/.*\/(browser|kit)\//.test(path))).toEqual([])
    expect(paths.filter((path) => path.endsWith('/served/main.js'))).toHaveLength(3)
    expect(staleFiles(paths.filter((path) => path.startsWith('dist/')))).toEqual([])
  })

  it('the published package has all types that its entry points lead to', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const reached = new Set<string>()
    const visit = (path: string) => {
      if (reached.has(path)) return
      reached.add(path)
      for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(
        /(?:from |import\()['"]([.#][^'"]+)['"]/g,
      )) {
        const file = name.replace(/\.(ts|js)$/, '.d.ts')
        visit(file.startsWith('#') ? `dist/src/${file.slice(1)}` : join(dirname(path), file))
      }
    }
    const doors = Object.values<{ types?: string }>(exports).flatMap(({ types }) =>
      types === undefined ? [] : [types],
    )
    for (const door of doors) visit(join(door))
    expect(doors.length).toBe(9)
    expect([...reached].filter((path) => !paths.includes(path))).toEqual([])
  })

  it('the published package has every file that package.json names', () => {
    const { bin, exports, man, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = [
      ...Object.values<string>(bin),
      man,
      ...Object.values<string | { default: string }>(exports).map((door) =>
        typeof door === 'string' ? door : door.default,
      ),
      ...[...scripts.install.matchAll(/node (\S+)/g)].map(([, path]) => path),
    ].map((path) => join(path))
    expect(named.length).toBeGreaterThan(6)
    expect(named.filter((path) => !paths.includes(path))).toEqual([])
  })

  it('an import of the package itself names all its entries', async () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const name = 'newcut'
    const reason = await import(name).catch((error) => error.message)
    const entries = Object.keys(exports).filter((entry) => entry !== '.' && !entry.endsWith('.json'))
    expect(reason.match(/newcut\/[\w/]+/g).sort()).toEqual(entries.map((entry) => join('newcut', entry)).sort())
  })

  it('the check of the package detects modules whose source is gone, and kernels of other sources', () => {
    const stale = ['dist/src/gone.js', 'dist/bench/gone.d.ts']
    expect(staleFiles([...stale, 'dist/src/main.js', 'README.md'])).toEqual(stale)
    expect(existsSync(join(root, 'src/gone.ts'))).toBe(false)
  })
})
