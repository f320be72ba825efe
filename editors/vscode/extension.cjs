/** Starts `newcut lsp` for contracts and test files, and `newcut dap` for their debugger. */
const { LanguageClient } = require('vscode-languageclient/node')
const vscode = require('vscode')

let client

exports.activate = async (context) => {
  const settings = vscode.workspace.getConfiguration('newcut')
  addDebugger(context, settings)
  const [command, ...args] = settings.get('command')
  const fork = settings.get('fork')
  const run = { command, args: fork ? [...args, '--fork', fork] : args }
  client = new LanguageClient(
    'newcut',
    'newcut',
    { run, debug: run },
    {
      documentSelector: [{ language: 'pact' }],
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{pact,repl}') },
    },
  )
  context.subscriptions.push(client)
  try {
    await client.start()
  } catch (error) {
    void vscode.window.showErrorMessage(`${command} cannot start: ${error.message}. Check the setting newcut.command.`)
  }
}

exports.deactivate = () => client?.stop()

/** The debugger, and the command that debugs the open test file. */
function addDebugger(context, settings) {
  const launch = (program) => ({ type: 'pact', request: 'launch', name: 'Debug contract tests', program })
  const openFile = () => vscode.window.activeTextEditor?.document.fileName
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('pact', {
      createDebugAdapterDescriptor() {
        const [command, ...args] = settings.get('debugCommand')
        return new vscode.DebugAdapterExecutable(command, args)
      },
    }),
    vscode.debug.registerDebugConfigurationProvider('pact', {
      // Without a launch.json, the configuration is empty.
      resolveDebugConfiguration(_folder, configuration) {
        return configuration.type ? configuration : launch(openFile())
      },
    }),
    vscode.commands.registerCommand('newcut.debugTest', (uri) => {
      const program = uri?.fsPath ?? openFile()
      const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri)
      return vscode.debug.startDebugging(folder, launch(program))
    }),
  )
}
