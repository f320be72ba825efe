/** The package that GPUs need: newcut asks for it where there is a graphics card, with the command for this installation. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { packageAdvice } from '../../src/mining/engine/gpu/adapters.ts'
import { findCards } from '../../src/mining/engine/gpu/cards.ts'
import { hasWebgpu, installCommandOf, WEBGPU } from '../../src/mining/engine/gpu/webgpu-package.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-cards-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A folder with files, such as the one with the devices of PCI. */
function folderWith(name: string, files: Readonly<Record<string, string>>): string {
  const at = join(folder, name)
  mkdirSync(at)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(at, path, '..'), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

const device = (at: string, kind: string, vendor: string) => ({
  [`${at}/class`]: `${kind}\n`,
  [`${at}/vendor`]: `${vendor}\n`,
})

describe('the graphics cards of a machine', () => {
  it.each([
    ['a card and its sound device', [device('1', '0x030000', '0x10de'), device('2', '0x040300', '0x10de')], ['NVIDIA']],
    ['two makers', [device('1', '0x038000', '0x1002'), device('2', '0x030200', '0x10de')], ['AMD', 'NVIDIA']],
    ['two cards of one maker', [device('1', '0x030000', '0x8086'), device('2', '0x030000', '0x8086')], ['Intel']],
    ['the display of a virtual machine', [device('1', '0x030000', '0x1234')], []],
    ['a network card of Intel', [device('1', '0x020000', '0x8086')], []],
    ['a device without files', [{ '1/other': '' }], []],
  ])('the graphics cards of Linux with %s are known by their PCI class and vendor', (name, devices, makers) => {
    const pciFolder = folderWith(name, Object.assign({}, ...devices))
    expect(findCards({ platform: 'linux', pciFolder, libraryFolder: '' })).toEqual(makers)
  })

  it('the graphics cards of Windows are known by the libraries of their drivers', () => {
    const libraryFolder = folderWith('System32', { 'nvapi64.dll': '', 'kernel32.dll': '' })
    expect(findCards({ platform: 'win32', pciFolder: '', libraryFolder })).toEqual(['NVIDIA'])
    expect(findCards({ platform: 'win32', pciFolder: '', libraryFolder: folder })).toEqual([])
  })

  it('a machine without a list of devices has no graphics cards, and each Mac has one', () => {
    const nowhere = { pciFolder: join(folder, 'nowhere'), libraryFolder: '' }
    expect(findCards({ platform: 'linux', ...nowhere })).toEqual([])
    expect(findCards({ platform: 'freebsd', ...nowhere })).toEqual([])
    expect(findCards({ platform: 'darwin', ...nowhere })).toEqual(['Apple'])
  })
})

describe('the command that installs the package for graphics cards', () => {
  const layout = (name: string, files: readonly string[]) =>
    folderWith(name, Object.fromEntries(files.map((file) => [file, '{}'])))

  it.each([
    ['in a project', ['package.json', 'node_modules/newcut/package.json'], `npm install ${WEBGPU}`],
    ['for all projects', ['node_modules/newcut/package.json'], `npm install -g ${WEBGPU}`],
    ['in a checkout', ['node_modules/newcut/package-lock.json'], 'npm ci'],
  ])('the command for newcut %s installs beside it', (name, files, command) => {
    expect(installCommandOf(join(layout(name, files), 'node_modules/newcut/'))).toBe(command)
  })

  it('the command for newcut that npx has started starts it with the package', () => {
    const root = join(folder, '_npx/0123456789abcdef/node_modules/newcut/')
    expect(installCommandOf(root)).toBe(`npx -p newcut -p ${WEBGPU} newcut mine`)
  })

  it('the command for newcut outside of any node_modules names its folder', () => {
    const root = layout('opt', ['package.json'])
    expect(installCommandOf(root)).toBe(`cd ${root} && npm install ${WEBGPU}`)
  })

  it('the version that newcut asks for is the tested one, and its package.json accepts it', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url))
    const { devDependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(WEBGPU).toBe(`webgpu@${devDependencies.webgpu}`)
    expect(peerDependencies.webgpu).toBe(`^${devDependencies.webgpu}`)
  })
})

describe('people with a graphics card', () => {
  it('people read one line with the command if the package is missing, and none without a card', () => {
    const line = packageAdvice(['NVIDIA'], false).notice
    expect(line).toMatch(
      /^the graphics card of this machine \(NVIDIA\) does not mine yet: `npm [^\n]*`gpu: none`[^\n]*$/,
    )
    expect(packageAdvice([], false).notice).toBeNull()
    expect(packageAdvice(['NVIDIA'], true).notice).toBeNull()
  })

  it('people of this checkout have the package, and newcut devices says what a card would need', () => {
    expect(hasWebgpu()).toBe(true)
    expect(packageAdvice(['AMD', 'NVIDIA']).problem).toBe(
      'the graphics card (AMD, NVIDIA) needs the package webgpu: `npm ci`',
    )
    expect(packageAdvice([]).problem).toMatch(/^no graphics card was found; for one, `npm ci` /)
  })
})
