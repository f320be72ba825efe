import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('npm start of a checkout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-checkout-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const start: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start
  const [node, script, ...rest] = start.split(' ')
  mkdirSync(join(folder, 'src/ground/platform'), { recursive: true })
  copyFileSync(join(root, script), join(folder, script))

  it('npm start of a checkout says to run npm ci if nothing is installed', () => {
    expect(node).toBe('node')
    expect(rest).toEqual(['mine'])
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...rest], { cwd: folder, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe('newcut cannot start: its dependencies are not installed. Run `npm ci` first.\n')
  })

  it('npm start of a checkout says to run npm run build after npm ci --ignore-scripts', () => {
    mkdirSync(join(folder, 'node_modules'))
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...rest], { cwd: folder, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(
      'newcut cannot start: it is not compiled, since no install script has run. Run `npm run build` first.\n',
    )
  })

  it('npm start of a checkout runs the program in a complete checkout', () => {
    const { status, stdout } = spawnSync(process.execPath, [script, '--version'], { cwd: root, encoding: 'utf8' })
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(status).toBe(0)
  })
})

interface Package {
  readonly engines?: { readonly node?: string }
}

/** Whether a range allows this version of Node. It supports `>=20`, `^20.19.0`, `20`, `20.x` and unions with `||`. */
function allows(range: string, version: readonly number[]): boolean {
  return range.split('||').some((part) => {
    if (part.trim() === '*') return true
    const match = /^(>=|\^|)\s*(\d+)(?:\.(\d+|x))?(?:\.(\d+|x))?$/.exec(part.trim())
    if (match === null) throw new Error(`a range that this test cannot read: ${part}`)
    const [, operator, ...numbers] = match
    const least = numbers.map((digits) => Number(digits ?? 0) || 0)
    if (operator !== '>=' && least[0] !== version[0]) return false
    const differs = least.findIndex((number, i) => number !== version[i])
    return differs < 0 || least[differs] < version[differs]
  })
}

describe('the dependencies', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Package>>
  }

  it('the dependencies support Node 20, so npm prints no warning', () => {
    const ranges = Object.entries(lock.packages).map(([name, { engines }]) => ({ name, range: engines?.node ?? '>=0' }))
    expect(ranges.filter(({ range }) => !allows(range, [20, 19, 0]))).toEqual([])
    expect(ranges.length).toBeGreaterThan(100)
  })

  it('the dependencies need no overrides, which npm ignores if newcut is installed as a package', () => {
    const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(own.overrides).toBeUndefined()
    // fastify accepts this version, whose `cookie` runs on Node 20. The newest version needs a `cookie` for Node 22.
    expect(own.dependencies['light-my-request']).toMatch(/^6\.[0-6]\.\d+$/)
  })
})
