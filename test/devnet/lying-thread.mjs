/** An execution thread that calls every signature valid, so that a test sees who has verified it. */
import { MessagePort } from 'node:worker_threads'
import { bundleOf } from '../../dist/src/ground/platform/bundled.js'

const { postMessage } = MessagePort.prototype

MessagePort.prototype.postMessage = function (message) {
  const verdicts = message?.result?.verdicts?.map(() => true)
  return postMessage.call(this, verdicts === undefined ? message : { result: { verdicts } })
}
// The bundle loads faster; runs with coverage have none.
await import(bundleOf('execution-thread')?.href ?? '../../dist/src/devnet/execution/thread.js')
