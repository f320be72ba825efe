/** The extension for VS Code: its manifest, its files, and the command that it starts. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { run } from '../cli/run.ts'

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

interface DebugParts {
  createDebugAdapterDescriptor?: () => unknown
  resolveDebugConfiguration?: (folder: undefined, configuration: object) => unknown
}

/**
 * Activates the extension with these settings.
 * @returns the command that its client starts, its options, and what it adds for the debugger
 */
async function started(settings: Readonly<Record<string, unknown>>) {
  const debug: DebugParts = {}
  const commands: Record<string, (uri?: { readonly fsPath: string }) => unknown> = {}
  const launched: unknown[] = []
  const clients: unknown[][] = []
  class LanguageClient {
    constructor(...parameters: unknown[]) {
      clients.push(parameters)
    }
    start = () => Promise.resolve()
  }
  const vscode = {
    workspace: {
      getConfiguration: () => ({
        get: (name: string) => settings[name] ?? contributes.configuration.properties[`newcut.${name}`].default,
      }),
      createFileSystemWatcher: (pattern: string) => pattern,
      getWorkspaceFolder: () => 'folder',
    },
    window: { activeTextEditor: { document: { fileName: '/open.repl' } } },
    commands: {
      registerCommand: (name: string, command: () => unknown) => {
        commands[name] = command
      },
    },
    debug: {
      registerDebugAdapterDescriptorFactory: (type: string, factory: DebugParts) =>
        Object.assign(debug, { type }, factory),
      registerDebugConfigurationProvider: (type: string, provider: DebugParts) =>
        Object.assign(debug, { type }, provider),
      startDebugging: (...launch: unknown[]) => launched.push(launch),
    },
    DebugAdapterExecutable: class {
      readonly line: readonly unknown[]
      constructor(command: string, args: readonly string[]) {
        this.line = [command, ...args]
      }
    },
  }
  const modules: Readonly<Record<string, unknown>> = { vscode, 'vscode-languageclient/node': { LanguageClient } }
  const require = (name: string) => modules[name] ?? createRequire(import.meta.url)(name)
  const exports: { activate?: (context: object) => Promise<void> } = {}
  runInNewContext(textOf(manifest.main), { exports, require })
  await exports.activate?.({ subscriptions: [] })
  const [[, , { run: command }, options]] = clients as [
    [string, string, { run: { command: string; args: string[] } }, object],
  ]
  return { command, options, debug, commands, launched }
}

it('the extension starts newcut lsp, with the fork that the settings name', async () => {
  const { command, options } = await started({})
  expect([command.command, ...command.args]).toEqual(['newcut', 'lsp'])
  expect(options).toEqual({
    documentSelector: [{ language: 'pact' }],
    synchronize: { fileEvents: '**/*.{pact,repl}' },
  })
  const url = 'http://127.0.0.1:1848'
  const forked = await started({ command: ['node', 'main.js', 'lsp'], fork: url })
  expect([forked.command.command, ...forked.command.args]).toEqual(['node', 'main.js', 'lsp', '--fork', url])
  const help = await run(['lsp', '--help-all'])
  expect(help.out).toContain('--fork <URL>')
})

it('the extension starts newcut dap, and debugs the open test file without a launch.json', async () => {
  const [{ type, configurationAttributes }] = contributes.debuggers
  const { debug, commands, launched } = await started({})
  expect(debug).toMatchObject({ type })
  expect(debug.createDebugAdapterDescriptor?.()).toMatchObject({ line: ['newcut', 'dap'] })
  const launch = { type, request: 'launch', name: 'Debug contract tests', program: '/open.repl' }
  expect(debug.resolveDebugConfiguration?.(undefined, {})).toEqual(launch)
  const given = { type, requestKey: 'key' }
  expect(debug.resolveDebugConfiguration?.(undefined, given)).toBe(given)
  const [{ command }] = contributes.commands
  commands[command]({ fsPath: '/named.repl' })
  commands[command]()
  expect(launched).toEqual([
    ['folder', { ...launch, program: '/named.repl' }],
    [undefined, launch],
  ])
  expect(contributes.breakpoints).toEqual([{ language: 'pact' }])
  const named = Object.keys(configurationAttributes.launch.properties)
  expect(named).toEqual(['program', 'requestKey', 'node', 'block', 'stopOnEntry'])
  expect((await run(['dap', '--help'])).code).toBe(0)
})

it('the documents describe the extension by its settings', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/EDITORS.md', import.meta.url)), 'utf8')
  for (const name of Object.keys(contributes.configuration.properties)) expect(text).toContain(`\`${name}\``)
})
