/** Results of commands as poll and listen give them (PROTOCOL.md E.1). */
import { encodeBase64Url } from '../../../core/bytes.ts'
import type { Block } from '../../store/block-store.ts'

const decoder = new TextDecoder()
const KEY = '"metaData":null'
const [QUOTE, BACKSLASH, BRACE, CLOSING_BRACE, BRACKET, CLOSING_BRACKET] = [...'"\\{}[]'].map((character) => {
  return character.charCodeAt(0)
})

/** A result as it stands in a block, and with it where it stands. Nothing else changes, no spelling of a number. */
export function placedResult(output: Uint8Array, block: Block): string {
  const text = decoder.decode(output)
  const at = topLevelKey(text)
  if (at === null) return text
  const { creationTime, parent } = block.header
  const metaData =
    `"metaData":{"blockHeight":${block.height},"blockTime":${creationTime},` +
    `"blockHash":"${block.id}","prevBlockHash":"${encodeBase64Url(parent)}"}`
  return text.slice(0, at) + metaData + text.slice(at + KEY.length)
}

/** Where a result says that it has no metadata. The values in it may say the same of themselves: they lie deeper. */
function topLevelKey(text: string): number | null {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BRACE || code === BRACKET) depth++
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--
    else if (code === QUOTE) {
      if (depth === 1 && text.startsWith(KEY, i)) return i
      i = closingQuote(text, i)
    }
  }
  return null
}

function closingQuote(text: string, opening: number): number {
  for (let i = opening + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) return i
    if (code === BACKSLASH) i++
  }
  return text.length
}

/** The result of a command that never came into a block. */
export function failedResult(reqKey: string, message: string): string {
  const error = { callStack: [], type: 'TxFailure', message, info: '' }
  const nothing = { logs: null, metaData: null, continuation: null, txId: null }
  return JSON.stringify({ gas: 0, result: { status: 'failure', error }, reqKey, ...nothing })
}
