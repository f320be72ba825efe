/** `newcut lsp`: the session of an editor. It turns messages into changes of a workspace, and into answers. */
import type { Readable, Writable } from 'node:stream'
import {
  CodeActionKind,
  CodeLensRefreshRequest,
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  MessageType,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { TOKEN_MODIFIERS, TOKEN_TYPES } from '../features/semantic-tokens.ts'
import { type TestFileReport, testFindings } from '../features/test-lenses.ts'
import type { CodeFinding } from '../text/spans.ts'
import { containsPath, FolderWatcher } from '../workspace/folder-watcher.ts'
import { LIVE_SCHEME, type ModuleTexts } from '../workspace/live-modules.ts'
import { Workspace, type WorkspaceFiles } from '../workspace/workspace.ts'
import { Answers, RUN_TEST } from './answers.ts'
import { fileOfUri, ProtocolPlaces } from './documents.ts'
import { MessageFilter } from './framing.ts'
import { MessageOrder } from './message-order.ts'

/** The surroundings of a session. */
export interface EditorHost {
  readonly input: Readable
  readonly output: Writable
  readonly version: string
  /**
   * @param folders of the workspace
   * @param onFolder called before files of a folder are read or listed
   */
  readonly filesIn: (folders: readonly string[], onFolder: (folder: string) => void) => WorkspaceFiles
  /** Modules of a live network, or null. */
  readonly moduleTexts: ModuleTexts | null
  /** Runs a test file. @throws Error if it cannot run */
  readonly runTest: (file: string) => Promise<TestFileReport>
  /** Reports input that is not a message. */
  readonly warn: (line: string) => void
}

/** Debounce: keystrokes within this time cause one round of findings. */
const DEBOUNCE_MS = 100

/** Files that editors watch for the server. */
const WATCHED_FILES = '**/*.{pact,repl}'

const CAPABILITIES: InitializeResult['capabilities'] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  completionProvider: { triggerCharacters: ['.', ':', '"', "'"] },
  documentSymbolProvider: true,
  foldingRangeProvider: true,
  semanticTokensProvider: {
    legend: { tokenTypes: [...TOKEN_TYPES], tokenModifiers: [...TOKEN_MODIFIERS] },
    full: true,
    range: true,
  },
  documentFormattingProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
  codeLensProvider: { resolveProvider: false },
  executeCommandProvider: { commands: [RUN_TEST] },
}

/** Serves an editor until it says `exit`, which ends the process. */
export function serveEditor(host: EditorHost): void {
  const warn = (what: string) => host.warn(`not a Language Server Protocol message: ${what}`)
  const reader = new StreamMessageReader(host.input.pipe(new MessageFilter(warn)))
  reader.onError(({ message }) => warn(message.split('\n', 1)[0]))
  const writer = new StreamMessageWriter(host.output)
  const connection = createConnection(reader, writer, { messageStrategy: new MessageOrder(writer) })
  new EditorSession(host, connection).listen()
}

class EditorSession {
  readonly #host: EditorHost
  readonly #connection: Connection
  readonly #documents = new TextDocuments(TextDocument)
  #workspace: Workspace
  #places: ProtocolPlaces
  #answers: Answers
  readonly #reports = new Map<string, TestFileReport>()
  /** Test files that run now, and whether they must run again. */
  readonly #running = new Map<string, boolean>()
  #timer: NodeJS.Timeout | null = null
  #refreshesLenses = false
  /** Test file -> the files that its last run read. */
  readonly #filesOfRuns = new Map<string, ReadonlySet<string>>()
  /** Files and folders that changed on disk since the last round of findings. */
  readonly #changed = new Set<string>()
  /** Folders of the workspace, which the editor watches if it can. */
  #folders: readonly string[] = []
  #hasWatchingEditor = false
  readonly #watcher: FolderWatcher

  constructor(host: EditorHost, connection: Connection) {
    this.#host = host
    this.#connection = connection
    const events = { onChange: (file: string) => this.#noteChanged([file]), onTrouble: host.warn }
    this.#watcher = new FolderWatcher(events, (folder) => !this.#isWatchedByEditor(folder))
    this.#workspace = this.#newWorkspace([], false)
    this.#places = new ProtocolPlaces(this.#workspace)
    this.#answers = new Answers(this.#workspace, this.#places)
  }

  listen(): void {
    const connection = this.#connection
    connection.onInitialize((params) => this.#initialize(params))
    connection.onInitialized(() => {
      // Asks for the names now, so that an unreachable network is reported at the start.
      void this.#workspace.liveNames
      if (this.#hasWatchingEditor) this.#askToWatch()
    })
    connection.onDidChangeWatchedFiles(({ changes }) => this.#noteChanged(changes.map(({ uri }) => fileOfUri(uri))))
    connection.onShutdown(() => this.#watcher.close())
    this.#followDocuments()
    this.#answerRequests()
    this.#documents.listen(connection)
    connection.listen()
  }

  #initialize({ workspaceFolders, rootUri, capabilities }: InitializeParams): InitializeResult {
    const uris = workspaceFolders?.map(({ uri }) => uri) ?? (typeof rootUri === 'string' ? [rootUri] : [])
    const { codeLens, textDocumentContent, didChangeWatchedFiles } = capabilities?.workspace ?? {}
    this.#folders = uris.map(fileOfUri)
    this.#hasWatchingEditor = didChangeWatchedFiles?.dynamicRegistration === true
    this.#refreshesLenses = codeLens?.refreshSupport === true
    const areVirtual = typeof textDocumentContent === 'object' && textDocumentContent !== null
    this.#workspace = this.#newWorkspace(this.#folders, areVirtual)
    this.#places = new ProtocolPlaces(this.#workspace)
    this.#answers = new Answers(this.#workspace, this.#places)
    const isVirtual = areVirtual && this.#host.moduleTexts !== null
    const workspace = isVirtual ? { workspace: { textDocumentContent: { schemes: [LIVE_SCHEME] } } } : {}
    return {
      capabilities: { ...CAPABILITIES, ...workspace },
      serverInfo: { name: 'newcut', version: this.#host.version },
    }
  }

  #newWorkspace(folders: readonly string[], areVirtual: boolean): Workspace {
    const files = this.#host.filesIn(folders, (folder) => this.#watcher.add(folder))
    return new Workspace(files, this.#host.moduleTexts, {
      areVirtual,
      onArrival: () => this.#publishSoon(),
      onTrouble: (message) => this.#showError(message),
    })
  }

  /** Asks the editor to watch the files of the workspace. If it refuses, the server does. */
  #askToWatch(): void {
    const watchers = [{ globPattern: WATCHED_FILES }]
    this.#connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(() => {
      this.#hasWatchingEditor = false
      // Lists the folders again, and so watches them.
      this.#noteChanged([])
    })
  }

  #isWatchedByEditor(folder: string): boolean {
    return this.#hasWatchingEditor && this.#folders.some((each) => containsPath(each, folder))
  }

  /** Reads files again that changed on disk. The editor itself reports changes of documents that it has open. */
  #noteChanged(files: readonly string[]): void {
    this.#workspace.refresh()
    const open = new Set(this.#workspace.openFiles)
    for (const file of files) if (!open.has(file)) this.#changed.add(file)
    this.#publishSoon()
  }

  /** Runs tests again that show results from before files changed on disk. */
  #runChanged(): void {
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const [test, files] of this.#filesOfRuns) {
      const all = [...files, ...(this.#workspace.analysis(test)?.files.keys() ?? [])]
      const isStale = changed.some((path) => all.some((file) => containsPath(path, file)))
      if (isStale && this.#reports.has(test)) void this.#run(test)
    }
  }

  #followDocuments(): void {
    const documents = this.#documents
    // Opening a document counts as its first change.
    documents.onDidChangeContent(({ document }) => {
      const file = this.#places.noteUri(document.uri)
      this.#reports.delete(file)
      this.#workspace.change(file, document.getText())
      this.#publishSoon()
    })
    documents.onDidSave(({ document }) => {
      this.#workspace.refresh()
      this.#publishSoon()
      for (const file of this.#testsOf(fileOfUri(document.uri))) void this.#run(file)
    })
    documents.onDidClose(({ document }) => {
      const file = fileOfUri(document.uri)
      this.#workspace.close(file)
      this.#reports.delete(file)
      this.#filesOfRuns.delete(file)
      void this.#connection.sendDiagnostics({ uri: document.uri, diagnostics: [] })
      this.#publishSoon()
    })
  }

  #answerRequests(): void {
    const connection = this.#connection
    const fileOf = (params: { readonly textDocument: { readonly uri: string } }) => fileOfUri(params.textDocument.uri)
    connection.onHover((params) => this.#answerWhenArrived(() => this.#answers.hover(fileOf(params), params.position)))
    connection.onDefinition((params) =>
      this.#answerWhenArrived(() => this.#answers.definition(fileOf(params), params.position)),
    )
    connection.onReferences((params) => {
      const includesDefinition = params.context?.includeDeclaration ?? true
      return this.#answerWhenArrived(
        () => this.#answers.references(fileOf(params), params.position, includesDefinition),
        false,
      )
    })
    connection.onPrepareRename((params) => this.#answers.rangeToRename(fileOf(params), params.position))
    connection.onRenameRequest((params) => this.#answers.rename(fileOf(params), params.position, params.newName))
    connection.onCompletion((params) =>
      this.#answerWhenArrived(() => this.#answers.completion(fileOf(params), params.position)),
    )
    connection.workspace.textDocumentContent.on(({ uri }) => {
      const text = this.#workspace.parsedFile(uri)?.text
      return text === undefined ? null : { text }
    })
    connection.onDocumentSymbol((params) => this.#answers.symbols(fileOf(params)))
    connection.onFoldingRanges((params) => this.#answers.folds(fileOf(params)))
    const tokens = connection.languages.semanticTokens
    tokens.on((params) => this.#answers.semanticTokens(fileOf(params), null))
    tokens.onRange((params) => {
      const { start, end } = params.range
      return this.#answers.semanticTokens(fileOf(params), [start.line, end.line])
    })
    connection.onDocumentFormatting((params) => this.#answers.formatting(fileOf(params)))
    connection.onCodeAction((params) => {
      const file = fileOf(params)
      return this.#answers.fixes(file, params.range, this.#findings(file))
    })
    connection.onCodeLens((params) => {
      const file = fileOf(params)
      return this.#answers.lenses(file, this.#reports.get(file) ?? null)
    })
    connection.onExecuteCommand(async ({ command, arguments: args }) => {
      const uri: unknown = args?.[0]
      if (command === RUN_TEST && typeof uri === 'string') await this.#run(fileOfUri(uri))
      return null
    })
  }

  /**
   * Answers once the live modules that the answer may depend on have arrived.
   * @param isEnough true if an answer with something in it needs no more
   */
  async #answerWhenArrived<T>(answer: () => T, isEnough = true): Promise<T> {
    for (;;) {
      const found = answer()
      const isEmpty = found === null || (Array.isArray(found) && found.length === 0)
      if ((isEnough && !isEmpty) || !(await this.#workspace.awaitArrival())) return found
    }
  }

  /** A notification, since not every editor answers requests of the server. */
  #showError(message: string): void {
    void this.#connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Error, message })
  }

  /** Open test files that a file is part of. */
  #testsOf(file: string): string[] {
    return this.#workspace.openFiles.filter((open) => {
      return open.endsWith('.repl') && (this.#workspace.analysis(open)?.files.has(file) ?? false)
    })
  }

  /** Runs a test file, and shows its results. A file that is saved while it runs is run again. */
  async #run(file: string): Promise<void> {
    if (this.#running.has(file)) {
      this.#running.set(file, true)
      return
    }
    this.#running.set(file, false)
    this.#filesOfRuns.set(file, new Set(this.#workspace.analysis(file)?.files.keys()))
    try {
      this.#reports.set(file, await this.#host.runTest(file))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#showError(`${file} cannot run: ${why}`)
    }
    const isStale = this.#running.get(file) === true
    this.#running.delete(file)
    this.#publishSoon()
    if (this.#refreshesLenses) void this.#connection.sendRequest(CodeLensRefreshRequest.type)
    if (isStale) await this.#run(file)
  }

  /** Findings of a file. Live modules have none, since nobody here can change them. */
  #findings(file: string): readonly CodeFinding[] {
    return this.#workspace.isLive(file) ? [] : this.#workspace.findings(file)
  }

  #publishSoon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#publish(), DEBOUNCE_MS)
  }

  #publish(): void {
    this.#timer = null
    if (this.#changed.size > 0) this.#runChanged()
    for (const { uri, version } of this.#documents.all()) {
      const file = fileOfUri(uri)
      const own = this.#answers.diagnostics(file, this.#findings(file), 'newcut')
      const report = this.#reports.get(file)
      const parsed = this.#workspace.parsedFile(file)
      const failed = report === undefined || parsed === null ? [] : testFindings(parsed, report)
      const diagnostics = [...own, ...this.#answers.diagnostics(file, failed, 'newcut test')]
      void this.#connection.sendDiagnostics({ uri, version, diagnostics })
    }
  }
}
