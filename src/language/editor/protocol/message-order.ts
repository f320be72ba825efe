/** The order of messages that the protocol asks for, and the parameters that every request about a document has. */
import type { Message, MessageStrategy, MessageWriter } from 'vscode-languageserver/node'
import { ErrorCodes } from 'vscode-languageserver/node'

const inDocument = (names: readonly string[]) => new Set<string>(names.map((name) => `textDocument/${name}`))
/** Requests about a position in a document. */
const AT_POSITION = inDocument(['hover', 'definition', 'references', 'prepareRename', 'rename', 'completion'])
/** Other messages about a document. */
const OF_DOCUMENT = inDocument([
  ...(['didOpen', 'didChange', 'didSave', 'didClose', 'documentSymbol', 'foldingRange', 'formatting'] as const),
  ...(['codeAction', 'codeLens', 'semanticTokens/full', 'semanticTokens/range'] as const),
])

interface Incoming {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: unknown
}

type MessageFault = readonly [code: number, message: string]

/** Answers requests that come before `initialize` or after `shutdown`, and those about no document, with an error. */
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
  const fault =
    typeof textDocument?.uri !== 'string'
      ? 'textDocument/uri: expected a text'
      : AT_POSITION.has(method) && !isPosition(position)
        ? 'position: expected a line and a character'
        : null
  return fault === null ? null : [ErrorCodes.InvalidParams, `${method}: ${fault}`]
}

function isPosition(position: unknown): boolean {
  const { line, character } = (position ?? {}) as { line?: unknown; character?: unknown }
  return typeof line === 'number' && typeof character === 'number'
}
