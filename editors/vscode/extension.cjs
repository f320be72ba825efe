/** Starts `newcut lsp` for contracts and test files, and `newcut dap` for their debugger. */
const { existsSync } = require('node:fs')
const { basename, delimiter, dirname, join } = require('node:path')
const { LanguageClient } = require('vscode-languageclient/node')
const vscode = require('vscode')

/** Names the open file in a launch.json. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of VS Code
const OPEN_FILE = '${file}'

let client

exports.activate = async (context) => {
  addDebugger(context)
  context.subscriptions.push(
    vscode.commands.registerCommand('newcut.restart', restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('newcut')) void restart()
    }),
  )
  await start()
}

exports.deactivate = () => client?.stop()

async function start() {
  const [command, ...args] = setting('command')
  const program = findProgram(command)
  if (program === null) return void offerSettings(missing(command, 'command'))
  const fork = setting('fork')
  const run = { command: program, args: fork ? [...args, '--fork', fork] : args }
  const options = {
    documentSelector: [{ language: 'pact' }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{pact,repl}') },
  }
  client = new LanguageClient('newcut', 'newcut', { run, debug: run }, options)
  // The client itself shows why it cannot start.
  await client.start().catch(() => undefined)
}

async function restart() {
  const last = client
  client = undefined
  await last?.dispose().catch(() => undefined)
  await start()
}

async function offerSettings(message) {
  const chosen = await vscode.window.showErrorMessage(message, 'Open Settings', 'Try Again')
  if (chosen === 'Open Settings') await vscode.commands.executeCommand('workbench.action.openSettings', 'newcut.')
  if (chosen === 'Try Again') await restart()
}

function setting(name) {
  return vscode.workspace.getConfiguration('newcut').get(name)
}

function openFile() {
  return vscode.window.activeTextEditor?.document.fileName
}

/** The program of a command: that of the project before one on the PATH. null if there is none. */
function findProgram(command) {
  if (process.platform === 'win32') return command
  if (command.includes('/')) return existsSync(command) ? command : null
  const file = openFile()
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath)
  const outward = [...(file === undefined ? [] : foldersFrom(dirname(file))), ...folders]
  const installed = outward.map((folder) => join(folder, 'node_modules', '.bin', command)).find(existsSync)
  if (installed !== undefined) return installed
  const isOnPath = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))
  return isOnPath ? command : null
}

/** A folder, and those around it. */
function foldersFrom(folder) {
  const around = dirname(folder)
  return around === folder ? [folder] : [folder, ...foldersFrom(around)]
}

function missing(command, name) {
  const places = command.includes('/') ? 'not there' : 'neither in node_modules nor on the PATH of the editor'
  return `${command} is ${places}. Install newcut, or change the setting newcut.${name}.`
}

/** The debugger, and the command that debugs a test file. */
function addDebugger(context) {
  let lastProgram
  const launch = (program) => ({ type: 'pact', request: 'launch', name: 'Debug contract tests', program })
  const debugTest = async (uri) => {
    const program = await chooseTest(uri?.fsPath ?? openFile(), lastProgram)
    if (program === undefined) return
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(program))
    return vscode.debug.startDebugging(folder, launch(program))
  }
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('pact', {
      createDebugAdapterDescriptor({ configuration, workspaceFolder }) {
        lastProgram = configuration.program ?? lastProgram
        const [command, ...args] = setting('debugCommand')
        const program = findProgram(command)
        if (program === null) throw new Error(missing(command, 'debugCommand'))
        // Places are shown as seen from here.
        const cwd = workspaceFolder?.uri.fsPath
        return new vscode.DebugAdapterExecutable(program, args, { cwd })
      },
    }),
    vscode.debug.registerDebugConfigurationProvider('pact', {
      // Without a launch.json, the configuration is empty.
      async resolveDebugConfiguration(_folder, configuration) {
        if (configuration.type && configuration.program !== OPEN_FILE) return configuration
        const program = await chooseTest(openFile(), lastProgram)
        return program && { ...configuration, ...(!configuration.type && launch()), program }
      },
    }),
    vscode.commands.registerCommand('newcut.debugTest', debugTest),
    vscode.languages.registerCodeLensProvider(
      { language: 'pact', pattern: '**/*.repl' },
      {
        provideCodeLenses({ uri }) {
          const command = { title: 'debug test', command: 'newcut.debugTest', arguments: [uri] }
          return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command)]
        },
      },
    ),
  )
}

/**
 * The test file to debug: the given one. For a contract, the test of its name, the last one that ran, the only one, or
 * the one that the user picks.
 */
async function chooseTest(file, lastProgram) {
  if (file?.endsWith('.repl')) return file
  const named = file?.replace(/\.pact$/, '.repl')
  if (named !== undefined && named !== file && existsSync(named)) return named
  if (lastProgram !== undefined && existsSync(lastProgram)) return lastProgram
  const found = await vscode.workspace.findFiles('**/*.repl', '**/node_modules/**')
  if (found.length === 0) return void vscode.window.showErrorMessage('There is no test file (.repl) to debug.')
  const tests = found.map(({ fsPath }) => fsPath).sort()
  if (tests.length === 1) return tests[0]
  const items = tests.map((path) => ({
    label: basename(path),
    description: vscode.workspace.asRelativePath(path),
    path,
  }))
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Test file to debug' }))?.path
}
