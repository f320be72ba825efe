/** Open documents, and texts of other files, as positions of the protocol need them. */
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Range, TextDocument } from 'vscode-languageserver-textdocument'
import type { OffsetRange } from '../text/spans.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Name of the file of a URI. A URI that names no file, such as that of an unsaved document, is its own name. */
export function fileOfUri(uri: string): string {
  if (!uri.startsWith('file:')) return uri
  try {
    return fileURLToPath(uri)
  } catch {
    // A host or a broken escape: no file of this machine.
    return uri
  }
}

/** Converts between offsets in files and ranges of the protocol. */
export class ProtocolPlaces {
  readonly #workspace: Workspace
  /** File -> the URI that the editor gave it. */
  readonly #uris = new Map<string, string>()
  readonly #documents = new Map<string, TextDocument>()

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Remembers the URI of a document, so that answers have it letter by letter. */
  noteUri(uri: string): string {
    const file = fileOfUri(uri)
    this.#uris.set(file, uri)
    return file
  }

  uriOf(file: string): string {
    return this.#uris.get(file) ?? (/^[a-z][a-z\d+.-]+:/.test(file) ? file : pathToFileURL(file).href)
  }

  range(file: string, { from, to }: OffsetRange): Range {
    const document = this.#document(file)
    return { start: document.positionAt(from), end: document.positionAt(Math.max(from, to)) }
  }

  offset(file: string, position: { readonly line: number; readonly character: number }): number {
    return this.#document(file).offsetAt(position)
  }

  location(file: string, at: OffsetRange) {
    return { uri: this.uriOf(file), range: this.range(file, at) }
  }

  #document(file: string): TextDocument {
    const text = this.#workspace.parsedFile(file)?.text ?? ''
    const before = this.#documents.get(file)
    if (before?.getText() === text) return before
    const document = TextDocument.create(file, 'pact', 0, text)
    this.#documents.set(file, document)
    return document
  }
}
