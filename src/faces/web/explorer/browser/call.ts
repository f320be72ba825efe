/** Calls the node and reports the result. */

export interface CallAnswer {
  readonly status: number
  readonly ms: number
  readonly type: string
  readonly text: string
}

/**
 * Sends a request.
 * @throws if the node does not answer
 */
export async function callNode(
  method: string,
  path: string,
  body?: string | null,
  type = 'application/json',
): Promise<CallAnswer> {
  const startMs = performance.now()
  const hasBody = body !== undefined && body !== null
  const init: RequestInit = { method, cache: 'no-store' }
  if (hasBody) Object.assign(init, { body, headers: { 'content-type': type } })
  const answer = await fetch(path, init)
  const text = await answer.text()
  const ms = performance.now() - startMs
  return { status: answer.status, ms, type: answer.headers.get('content-type') ?? '', text }
}

/** The same call as a curl command. */
export function curlText(method: string, path: string, body?: string | null, type = 'application/json'): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const url = quote(location.origin + path)
  const verb = method === 'GET' && !body ? '' : ` -X ${method}`
  return body ? `curl${verb} ${url} -H 'content-type: ${type}' -d ${quote(body)}` : `curl${verb} ${url}`
}
