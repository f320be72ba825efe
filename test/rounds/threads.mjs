/**
 * Loaded into a miner by --import: controls its search threads from outside, so that the product needs no hook. It
 * reports each new thread on stderr. SIGUSR2 terminates the newest thread, whatever it does. SIGWINCH stops it in place,
 * as a debugger does, and the next SIGWINCH resumes it.
 */
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

/** Ids of the stopped threads and the session with them, or null if no thread is stopped. */
let stopped = null

function tell(sessionId, method) {
  const message = JSON.stringify({ id: 1, method })
  stopped.session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
}

function stop() {
  stopped = { session: new Session(), ids: [] }
  const { session, ids } = stopped
  session.connect()
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    ids.push(sessionId)
    for (const method of ['Debugger.enable', 'Debugger.pause']) tell(sessionId, method)
  })
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
}

function goOn() {
  const { session, ids } = stopped
  for (const id of ids) for (const method of ['Debugger.resume', 'Debugger.disable']) tell(id, method)
  session.disconnect()
  stopped = null
}

// Threads inherit --import.
if (isMainThread) {
  let newest = null
  process.on('worker', (worker) => {
    newest = worker
    worker.once('online', () => process.stderr.write('a search thread is there\n'))
  })
  process.on('SIGUSR2', () => void newest?.terminate())
  process.on('SIGWINCH', () => (stopped === null ? stop() : goOn()))
}
