/** Starts `newcut lsp` for contracts and test files. */
const { LanguageClient } = require('vscode-languageclient/node')
const vscode = require('vscode')

let client

exports.activate = async (context) => {
  const [command, ...args] = vscode.workspace.getConfiguration('newcut').get('command')
  const run = { command, args }
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
    void vscode.window.showErrorMessage(
      `${command} cannot start: ${error.message}. The setting newcut.command names it.`,
    )
  }
}

exports.deactivate = () => client?.stop()
