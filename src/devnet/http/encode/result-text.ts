/** Command results in the form of poll and listen (PROTOCOL.md E.1). */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Block } from '../../store/block-store.ts'

const decoder = new TextDecoder()
const KEY = '"metaData":null'
const [QUOTE, BACKSLASH, BRACE, CLOSING_BRACE, BRACKET, CLOSING_BRACKET] = [...'"\\{}[]'].map((character) => {
  return character.charCodeAt(0)
})

/** Adds the place of the block to a stored result. Nothing else changes, not even the spelling of a number. */
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

/** Offset of the empty metadata of a result, or null. Values in the result may hold the same text at a deeper level. */
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

/** Result of a command that never got into a block. */
export function failedResult(reqKey: string, message: string): string {
  const error = { callStack: [], type: 'TxFailure', message, info: '' }
  const nothing = { logs: null, metaData: null, continuation: null, txId: null }
  return JSON.stringify({ gas: 0, result: { status: 'failure', error }, reqKey, ...nothing })
}
