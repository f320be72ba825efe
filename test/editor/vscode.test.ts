/** The extension for VS Code: its manifest, its files, and the command that it starts. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { until } from '../wait.ts'

const folder = fileURLToPath(new URL('../../editors/vscode/', import.meta.url))
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
const manifest = JSON.parse(textOf('package.json'))
const { contributes } = manifest

it('the extension has a manifest with everything that a package of VS Code needs', () => {
  for (const field of ['name', 'displayName', 'description', 'version', 'publisher', 'license', 'main']) {
    expect(typeof manifest[field], field).toBe('string')
  }
  expect(manifest.name).toMatch(/^[a-z\d-]+$/)
  expect(manifest.version).toMatch(/^\d+\.\d+\.\d+$/)
  // The oldest VS Code that the client of the protocol supports.
  expect(manifest.engines).toEqual({ vscode: '^1.91.0' })
  expect(manifest.dependencies).toEqual({ 'vscode-languageclient': expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  const known = ['Programming Languages', 'Formatters', 'Linters', 'Testing', 'Debuggers']
  for (const category of manifest.categories) expect(known).toContain(category)
  expect(manifest.scripts.package).toMatch(/^npm install .* npx --yes @vscode\/vsce@\d+\.\d+\.\d+ package/)
})

it('the extension supports the language of both kinds of files, with a readable grammar and configuration', () => {
  const [{ id, extensions, configuration }] = contributes.languages
  expect(id).toBe('pact')
  expect(extensions).toEqual(['.pact', '.repl'])
  expect(manifest.activationEvents).toEqual([`onLanguage:${id}`, 'onDebugResolve:pact'])
  const [grammar] = contributes.grammars
  expect(grammar.language).toBe(id)
  expect(JSON.parse(textOf(grammar.path)).scopeName).toBe(grammar.scopeName)
  const { wordPattern, brackets } = JSON.parse(textOf(configuration))
  expect('(coin.transfer-create a)'.match(new RegExp(wordPattern, 'g'))).toEqual(['coin', 'transfer-create', 'a'])
  expect(brackets).toEqual([
    ['(', ')'],
    ['[', ']'],
    ['{', '}'],
  ])
})

it('the extension packs each file that the manifest names, and the files that those need', () => {
  const packed = textOf('.vscodeignore').match(/^!.*/gm)
  const named = [manifest.main, contributes.languages[0].configuration, contributes.grammars[0].path]
  for (const name of ['package.json', 'README.md', ...named.map((each: string) => each.replace('./', ''))]) {
    expect(existsSync(join(folder, name)), name).toBe(true)
    expect(packed).toContain(`!${name}`)
  }
  expect(packed).toContain('!node_modules/**')
})

/** `bin` is the PATH of the editor. `project` has installed newcut itself, `plain` has not. */
const root = mkdtempSync(join(tmpdir(), 'newcut-vscode-'))
const [project, plain] = ['project', 'plain'].map((each) => join(root, each))
const installed = join(project, 'node_modules/.bin/newcut')
for (const file of [
  join(root, 'bin/newcut'),
  installed,
  ...['a.pact', 'a.repl', 'b.pact'].map((each) => join(plain, each)),
]) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
}
afterAll(() => rmSync(root, { recursive: true }))

interface DebugParts {
  createDebugAdapterDescriptor?: (session: object) => unknown
  resolveDebugConfiguration?: (folder: undefined, configuration: object) => Promise<unknown>
}

interface Project {
  /** The open file. */
  readonly open: string
  /** Its folder with installed programs and test files. */
  readonly folder?: string
  /** Test files that the editor finds. */
  readonly tests?: readonly string[]
}

type Line = readonly [command: string, ...args: string[]]

/** Activates the extension with these settings, and collects what it does with the editor. */
async function activate(settings: Record<string, unknown>, { open, folder, tests = [] }: Project) {
  const debug: DebugParts = {}
  const commands: Record<string, (uri?: { readonly fsPath: string }) => unknown> = {}
  const done = {
    launched: [] as unknown[],
    lines: [] as Line[],
    options: [] as object[],
    stopped: 0,
    messages: [] as string[],
    offered: [] as unknown[],
    lenses: [] as unknown[],
    change: (_: { affectsConfiguration: (name: string) => boolean }): void => undefined,
  }
  class LanguageClient {
    constructor(_id: string, _name: string, { run }: { run: { command: string; args: string[] } }, options: object) {
      done.lines.push([run.command, ...run.args])
      done.options.push(options)
    }
    start = () => Promise.resolve()
    dispose = async () => {
      done.stopped += 1
    }
  }
  const uriOf = (fsPath: string) => ({ fsPath })
  const vscode = {
    workspace: {
      workspaceFolders: folder === undefined ? undefined : [{ uri: uriOf(folder) }],
      getConfiguration: () => ({
        get: (name: string) => settings[name] ?? contributes.configuration.properties[`newcut.${name}`].default,
      }),
      onDidChangeConfiguration: (listener: typeof done.change) => {
        done.change = listener
      },
      createFileSystemWatcher: (pattern: string) => pattern,
      getWorkspaceFolder: () => 'folder',
      findFiles: async () => tests.map(uriOf),
      asRelativePath: (path: string) => path.slice(1),
    },
    window: {
      activeTextEditor: { document: { fileName: open } },
      showErrorMessage: async (message: string) => void done.messages.push(message),
      showQuickPick: async (items: readonly object[]) => {
        done.offered.push(...items)
        return items.at(-1)
      },
    },
    commands: {
      registerCommand: (name: string, command: () => unknown) => {
        commands[name] = command
      },
    },
    languages: {
      registerCodeLensProvider: (_: object, provider: { provideCodeLenses: (document: object) => unknown[] }) => {
        done.lenses.push(...provider.provideCodeLenses({ uri: uriOf(open) }))
      },
    },
    debug: {
      registerDebugAdapterDescriptorFactory: (type: string, factory: DebugParts) =>
        Object.assign(debug, { type }, factory),
      registerDebugConfigurationProvider: (type: string, provider: DebugParts) =>
        Object.assign(debug, { type }, provider),
      startDebugging: (...launch: unknown[]) => done.launched.push(launch),
    },
    Uri: { file: uriOf },
    Range: class {},
    CodeLens: class {
      readonly command: object
      constructor(_: object, command: object) {
        this.command = command
      }
    },
    DebugAdapterExecutable: class {
      readonly line: readonly unknown[]
      readonly folder: string | undefined
      constructor(command: string, args: readonly string[], { cwd }: { cwd?: string }) {
        this.line = [command, ...args]
        this.folder = cwd
      }
    },
  }
  const modules: Readonly<Record<string, unknown>> = { vscode, 'vscode-languageclient/node': { LanguageClient } }
  const require = (name: string) => modules[name] ?? createRequire(import.meta.url)(name)
  const exports: { activate?: (context: object) => Promise<void> } = {}
  runInNewContext(textOf(manifest.main), {
    exports,
    require,
    process: { platform: 'linux', env: { PATH: join(root, 'bin') } },
  })
  await exports.activate?.({ subscriptions: [] })
  return { ...done, done, debug, commands }
}

it('the extension starts newcut lsp of the PATH, with the fork that the settings name', async () => {
  const { lines, options } = await activate({}, { open: join(plain, 'a.repl') })
  expect(lines).toEqual([['newcut', 'lsp']])
  expect(options).toEqual([
    { documentSelector: [{ language: 'pact' }], synchronize: { fileEvents: '**/*.{pact,repl}' } },
  ])
  const url = 'http://127.0.0.1:1848'
  const forked = await activate({ command: [installed, 'lsp'], fork: url }, { open: join(plain, 'a.repl') })
  expect(forked.lines).toEqual([[installed, 'lsp', '--fork', url]])
  expect((await run(['lsp', '--help-all'])).out).toContain('--fork <URL>')
})

it('the extension prefers the newcut that the project has installed, in a folder around the file or the open one', async () => {
  expect((await activate({}, { open: join(project, 'contracts/deep/a.repl') })).lines).toEqual([[installed, 'lsp']])
  const { lines, debug } = await activate({}, { open: join(plain, 'a.repl'), folder: project })
  expect(lines).toEqual([[installed, 'lsp']])
  const session = { configuration: { program: 'a.repl' }, workspaceFolder: { uri: { fsPath: project } } }
  const adapter = { line: [installed, 'dap'], folder: project }
  expect(debug.createDebugAdapterDescriptor?.(session)).toMatchObject(adapter)
})

it('the extension says where it looked if newcut is missing, and starts when the setting has changed', async () => {
  const settings: Record<string, unknown> = { command: ['newcu', 'lsp'], debugCommand: ['/gone/newcut', 'dap'] }
  const { done, debug } = await activate(settings, { open: join(plain, 'a.repl') })
  const places = 'newcu is neither in node_modules nor on the PATH of the editor'
  expect(done.messages).toEqual([`${places}. Install newcut, or change the setting newcut.command.`])
  expect(() => debug.createDebugAdapterDescriptor?.({ configuration: {} })).toThrow(
    '/gone/newcut is not there. Install newcut, or change the setting newcut.debugCommand.',
  )
  settings.command = ['newcut', 'lsp']
  done.change({ affectsConfiguration: () => false })
  expect(done.lines).toEqual([])
  done.change({ affectsConfiguration: (name) => name === 'newcut' })
  await until(() => done.lines.length === 1)
})

it('the command of the palette ends the language server and starts another', async () => {
  const { done, commands } = await activate({}, { open: join(plain, 'a.repl') })
  await commands['newcut.restart']()
  expect(done).toMatchObject({
    stopped: 1,
    lines: [
      ['newcut', 'lsp'],
      ['newcut', 'lsp'],
    ],
  })
})

const [{ type, configurationAttributes }] = contributes.debuggers
const launchOf = (program: string) => ({ type, request: 'launch', name: 'Debug contract tests', program })

it('the extension starts newcut dap, and debugs the open test file without a launch.json', async () => {
  const open = join(plain, 'a.repl')
  const { debug, commands, launched, lenses } = await activate({}, { open })
  expect(debug).toMatchObject({ type })
  expect(debug.createDebugAdapterDescriptor?.({ configuration: {} })).toMatchObject({ line: ['newcut', 'dap'] })
  expect(await debug.resolveDebugConfiguration?.(undefined, {})).toEqual(launchOf(open))
  const given = { type, requestKey: 'key' }
  expect(await debug.resolveDebugConfiguration?.(undefined, given)).toBe(given)
  await commands['newcut.debugTest']({ fsPath: '/named.repl' })
  await commands['newcut.debugTest']()
  expect(launched).toEqual([
    ['folder', launchOf('/named.repl')],
    ['folder', launchOf(open)],
  ])
  expect(lenses).toMatchObject([{ command: { title: 'debug test', command: 'newcut.debugTest' } }])
  expect(contributes.breakpoints).toEqual([{ language: 'pact' }])
  const named = Object.keys(configurationAttributes.launch.properties)
  expect(named).toEqual(['program', 'requestKey', 'node', 'block', 'fork', 'forkOptions', 'stopOnEntry'])
  expect((await run(['dap', '--help'])).code).toBe(0)
})

it('an open contract is debugged by the test of its name, the last one, the only one, or the one that the user picks', async () => {
  const chosen = async (open: string, tests: readonly string[], last?: string) => {
    const { debug, done } = await activate({}, { open, tests })
    if (last !== undefined) debug.createDebugAdapterDescriptor?.({ configuration: { program: last } })
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of VS Code
    const fromLaunchFile = { type, name: 'mine', program: '${file}', stopOnEntry: true }
    const resolved = await debug.resolveDebugConfiguration?.(undefined, fromLaunchFile)
    return { resolved: resolved && (resolved as { program: string }).program, ...done, given: resolved }
  }
  const [contract, other, test] = ['a.pact', 'b.pact', 'a.repl'].map((each) => join(plain, each))
  const { given } = await chosen(contract, ['/x.repl'])
  expect(given).toEqual({ type, name: 'mine', program: test, stopOnEntry: true })
  expect(await chosen(other, ['/x.repl'], test)).toMatchObject({ resolved: test })
  expect(await chosen(other, ['/x.repl'], '/gone.repl')).toMatchObject({ resolved: '/x.repl', offered: [] })
  const picked = await chosen(other, ['/y/t.repl', '/x.repl'])
  expect(picked).toMatchObject({ resolved: '/y/t.repl', offered: [{ label: 'x.repl' }, { description: 'y/t.repl' }] })
  expect(await chosen(other, [])).toMatchObject({
    resolved: undefined,
    messages: ['There is no test file (.repl) to debug.'],
  })
})

it('the documents describe the extension by its settings', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/EDITORS.md', import.meta.url)), 'utf8')
  for (const name of Object.keys(contributes.configuration.properties)) expect(text).toContain(`\`${name}\``)
})
