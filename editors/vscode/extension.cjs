/** Starts `newcut lsp` for contracts and test files. */
const { LanguageClient } = require('vscode-languageclient/node')
const vscode = require('vscode')

let client

exports.activate = async (context) => {
  const settings = vscode.workspace.getConfiguration('newcut')
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
