/** The order of messages that the protocol asks for, and the parameters that every request about a document has. */
import type { Message, MessageStrategy, MessageWriter } from 'vscode-languageserver/node'
import { ErrorCodes } from 'vscode-languageserver/node'

const inDocument = (names: readonly string[]) => new Set<string>(names.map((name) => `textDocument/${name}`))
/** Requests about a position in a document. */
const AT_POSITION = inDocument(['hover', 'definition', 'references', 'prepareRename', 'rename', 'completion'])
/** Other messages about a document. */
const OF_DOCUMENT = inDocument([
  'didOpen',
  'didChange',
  'didSave',
  'didClose',
  'documentSymbol',
  'foldingRange',
  'formatting',
  'codeAction',
  'codeLens',
  'semanticTokens/full',
  'semanticTokens/range',
])

interface Incoming {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: unknown
}

type MessageFault = readonly [code: number, message: string]

/**
 * Answers messages that are out of order, or lack a document, with an error. The life cycle of a session:
 *
 * 1. `new`: only `initialize` is answered.
 * 2. `serving`, after `initialize`: documents are opened, changed and closed, and requests about them answered.
 * 3. `over`, after `shutdown`: only `exit` has an effect. It ends the process, with code 1 if `shutdown` did not come.
 */
export class MessageOrder implements MessageStrategy {
  readonly #writer: MessageWriter
  #state: 'new' | 'serving' | 'over' = 'new'

  constructor(writer: MessageWriter) {
    this.#writer = writer
  }

  handleMessage(message: Message, next: (message: Message) => void | Promise<void>): void | Promise<void> {
    const { id, method, params } = message as Message & Incoming
    const refusal = method === undefined ? null : (this.#outOfOrder(method) ?? faultIn(method, params))
    if (refusal === null) {
      if (method === 'initialize') this.#state = 'serving'
      if (method === 'shutdown') this.#state = 'over'
      return next(message)
    }
    // A notification has no answer.
    if (id === undefined || id === null) return
    const [code, text] = refusal
    void this.#writer.write({ jsonrpc: '2.0', id, error: { code, message: text } } as Message)
  }

  #outOfOrder(method: string): MessageFault | null {
    if (method === 'exit') return null
    if (this.#state === 'new' && method !== 'initialize') {
      return [ErrorCodes.ServerNotInitialized, `${method} before initialize`]
    }
    if (this.#state === 'over') return [ErrorCodes.InvalidRequest, `${method} after shutdown`]
    if (this.#state === 'serving' && method === 'initialize') return [ErrorCodes.InvalidRequest, 'a second initialize']
    return null
  }
}

function faultIn(method: string, params: unknown): MessageFault | null {
  if (!AT_POSITION.has(method) && !OF_DOCUMENT.has(method)) return null
  const { textDocument, position } = (params ?? {}) as { textDocument?: { uri?: unknown } | null; position?: unknown }
  if (typeof textDocument?.uri !== 'string') {
    return [ErrorCodes.InvalidParams, `${method}: textDocument/uri: expected a text`]
  }
  if (AT_POSITION.has(method) && !isPosition(position)) {
    return [ErrorCodes.InvalidParams, `${method}: position: expected a line and a character`]
  }
  return null
}

function isPosition(position: unknown): boolean {
  const { line, character } = (position ?? {}) as { line?: unknown; character?: unknown }
  return typeof line === 'number' && typeof character === 'number'
}
