/** Which native kernel file newcut chooses; the compiler makes real files for the test. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { chooseNative, loadChosen, NO_NATIVE } from '../../src/engine/cpu/native-choice.ts'
import { BUILD_SCRIPT, type NativeFiles, sourcesMark } from '../../src/engine/cpu/native-files.ts'
import { describeWith } from '../needs.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const script = fileURLToPath(BUILD_SCRIPT)
const folder = mkdtempSync(join(tmpdir(), 'newcut-choice-'))
afterAll(() => rmSync(folder, { recursive: true }))

const right = join(folder, 'right.node')
const wrong = join(folder, 'wrong.node')
const env = { PATH: process.env.PATH }
const noCompiler = spawnSync('cc', ['--version']).status === 0 ? null : 'cc is not installed: apt-get install gcc'

/** Compiles a copy of the sources with a wrong constant, and gives the file the mark of the right sources. */
function compileWrong(): void {
  const copy = join(folder, 'wrong/src/engine/cpu/native')
  cpSync(dirname(script), copy, { recursive: true })
  writeFileSync(join(folder, 'wrong/package.json'), '{ "type": "module" }')
  cpSync(join(root, 'node_modules/node-api-headers'), join(folder, 'wrong/node_modules/node-api-headers'), {
    recursive: true,
  })
  const text = readFileSync(join(copy, 'kernel.c'), 'utf8')
  writeFileSync(join(copy, 'kernel.c'), text.replace('0x6a09e667', '0x6a09e666'))
  expect(spawnSync(process.execPath, [join(copy, 'build.js'), wrong, '-O1'], { env }).status).toBe(0)
  appendFileSync(wrong, sourcesMark())
}

describeWith(noCompiler, 'the chosen native kernel', () => {
  let files: NativeFiles
  let count = 0
  beforeAll(() => {
    const { stdout } = spawnSync(process.execPath, [script, right, '-O1'], { env, encoding: 'utf8' })
    expect(stdout).toBe('newcut: native kernel compiled with cc\n')
    compileWrong()
  }, 240_000)
  beforeEach(() => {
    const path = (name: string) => join(folder, `${name}-${count}.node`)
    files = { prebuilt: path('prebuilt'), installed: path('installed'), cached: path('cached') }
    count++
  })

  it.each([
    ['the prebuilt one first', ['prebuilt', 'installed', 'cached'], 'prebuilt'],
    ['the installed one before the one in the cache', ['installed', 'cached'], 'installed'],
    ['the one in the cache', ['cached'], 'cached'],
  ] as const)('is %s', (_, present, origin) => {
    for (const name of present) copyFileSync(right, files[name])
    const choice = chooseNative(files)
    expect(choice).toEqual({ file: files[origin], origin, obstacle: null, passedOver: [] })
    expect(Object.keys(loadChosen(choice).sweeps).length).toBeGreaterThan(0)
  })

  it.each([
    ['is for another system', () => writeFileSync(files.prebuilt, `text, ${sourcesMark()}`), /does not load: /],
    [
      'computes wrongly',
      () => copyFileSync(wrong, files.prebuilt),
      /kernel native-\w+ failed its self-test: nonces 0 to/,
    ],
    [
      'was made from other sources',
      () => writeFileSync(files.prebuilt, readFileSync(right).subarray(0, 4096)),
      /it was made from other sources$/,
    ],
  ])('is the installed one if the prebuilt one %s, with a sentence that says so', (_, spoil, sentence) => {
    spoil()
    copyFileSync(right, files.installed)
    const passedOver = [expect.stringMatching(/^the prebuilt native kernel is not used: /)]
    expect(chooseNative(files)).toEqual({ file: files.installed, origin: 'installed', obstacle: null, passedOver })
    expect(chooseNative(files).passedOver[0]).toMatch(sentence)
  })

  it('is none if all are unusable, and the last reason is reported', () => {
    copyFileSync(wrong, files.prebuilt)
    writeFileSync(files.cached, 'text')
    const choice = chooseNative(files)
    expect(choice).toMatchObject({ file: null, origin: null, obstacle: expect.stringMatching(/does not load/) })
    expect(choice.passedOver).toHaveLength(2)
    expect(loadChosen(choice)).toEqual({ sweeps: {}, obstacle: choice.obstacle })
  })

  it('is none without a file', () => {
    expect(chooseNative(files)).toEqual(NO_NATIVE)
  })
})
