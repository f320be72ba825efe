/** Reads of the page from the node. They are left out of the page's list of requests. */

/** PAGE_HEADER of schema/view.ts. */
const HEADERS = { 'x-newcut-page': '1' }

/** Refusal of the node, in its own words. */
export class RefusedByNode extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text === '' ? `the node answers ${status}` : text)
    this.status = status
  }
}

/**
 * Reads JSON with GET, or with POST if there is a body.
 * @throws RefusedByNode, or Error if the node does not answer
 */
export async function askNode<T>(path: string, body?: unknown): Promise<T> {
  const init: RequestInit =
    body === undefined
      ? { headers: HEADERS }
      : { method: 'POST', headers: { ...HEADERS, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  let answer: Response
  try {
    answer = await fetch(path, { ...init, cache: 'no-store' })
  } catch (error) {
    throw new Error('the node does not answer', { cause: error })
  }
  const text = await answer.text()
  if (!answer.ok) throw new RefusedByNode(answer.status, text)
  return JSON.parse(text) as T
}

export const textOfError = (error: unknown) => (error instanceof Error ? error.message : String(error))
