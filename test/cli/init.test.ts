/** `newcut init NAME`: the project that it makes, and the folders and names that it refuses. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { packageVersion } from '../../src/ground/platform/version.ts'
import { root } from '../docs-samples/blocks.ts'
import { itWith } from '../needs.ts'
import { run } from './run.ts'

const home = mkdtempSync(join(tmpdir(), 'newcut-init-'))
afterAll(() => rmSync(home, { recursive: true }))

const TEMPLATE = join(root, 'examples/starter')
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted()

it('newcut init makes the project of the template, with its name and the version of newcut', async () => {
  const folder = join(home, 'my-jar')
  const { code, out, err } = await run(['init', folder])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.split('\n').slice(1)).toEqual(['', `cd ${folder}`, 'npm install', 'npm test', 'npm run deploy', ''])
  const made = filesOf(folder)
  expect(made).toEqual(
    filesOf(TEMPLATE)
      .map((file) => file.replace(/^(gitignore$|github\/)/, '.$1'))
      .toSorted(),
  )
  const { name, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect([name, devDependencies.newcut]).toEqual(['my-jar', packageVersion])
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(/^# my-jar\n/)
  expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toContain('node_modules/')
  const same = made.filter((file) => !['README.md', 'package.json'].includes(file))
  for (const file of same) {
    const template = readFileSync(join(TEMPLATE, file.replace(/^\./, '')), 'utf8')
    expect(readFileSync(join(folder, file), 'utf8'), file).toBe(template)
  }
})

it('the contract tests of a new project pass before anything is installed', async () => {
  const folder = join(home, 'tested')
  await run(['init', folder])
  const { code, out } = await run(['test', folder])
  expect({ code, last: out.trimEnd().split('\n').at(-1) }).toEqual({
    code: 0,
    last: expect.stringMatching(/^9 passed, 0 failed, 0 skipped, 1 file/),
  })
})

it('the commands that newcut init prints are those of the README, which are scripts of package.json', () => {
  const readme = readFileSync(join(TEMPLATE, 'README.md'), 'utf8')
  expect(readme).toContain('```sh\nnpm install\nnpm test\nnpm run deploy\n```')
  const { scripts, devDependencies } = JSON.parse(readFileSync(join(TEMPLATE, 'package.json'), 'utf8'))
  expect(Object.keys(scripts)).toEqual(['test', 'types', 'deploy'])
  const { devDependencies: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { newcut: _, ...others } = devDependencies
  expect(others).toEqual(Object.fromEntries(Object.keys(others).map((name) => [name, own[name]])))
})

it('the types of the template are those of its contract', async () => {
  const file = join(home, 'contracts.d.ts')
  const contract = join(TEMPLATE, 'contracts/tip-jar.pact')
  expect((await run(['types', contract, '--out', file])).code).toBe(0)
  const text = readFileSync(file, 'utf8').replace(contract, 'contracts/tip-jar.pact')
  expect(text).toBe(readFileSync(join(TEMPLATE, 'contracts.d.ts'), 'utf8'))
})

it('newcut init takes a folder that is empty but for .git, and refuses one with files', async () => {
  const cloned = join(home, 'cloned')
  mkdirSync(join(cloned, '.git'), { recursive: true })
  expect((await run(['init', cloned])).code).toBe(0)
  const again = await run(['init', cloned])
  expect(again.code).not.toBe(0)
  expect(again.err).toMatch(/cloned: the folder is not empty: it has \S+ and \d+ more \(name a folder that is new/)
  const full = join(home, 'full')
  mkdirSync(full)
  writeFileSync(join(full, 'a.txt'), '')
  expect((await run(['init', full])).err).toContain('it has a.txt (')
  expect(readdirSync(full)).toEqual(['a.txt'])
})

it('newcut init without a name says how it is used, and a name that npm refuses gets another one', async () => {
  expect((await run(['init'])).err).toContain('init takes the NAME of a project')
  for (const [given, other] of [
    ['My Jar', 'my-jar'],
    ['_jar', 'jar'],
    ['§', 'my-contracts'],
  ] as const) {
    const { code, err } = await run(['init', join(home, given)])
    expect(code).not.toBe(0)
    expect(err).toContain(`(newcut init ${other})`)
    expect(existsSync(join(home, given))).toBe(false)
  }
})

it('newcut init says why it cannot make the folder', async () => {
  const file = join(home, 'a-file')
  writeFileSync(file, '')
  expect((await run(['init', file])).err).toContain('a-file: this is a file, and a project is a folder')
  expect((await run(['init', join(home, 'no/such')])).err).toMatch(/there is no folder \S+no \(ENOENT\)/)
})

itWith(existsSync('/proc/self') ? null : '/proc', 'newcut init ends in a folder that takes no folders', async () => {
  expect((await run(['init', '/proc/jar'])).err).toContain('/proc/jar: it cannot be written (ENOENT)')
})
