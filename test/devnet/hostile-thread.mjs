/**
 * An execution thread in which some code never ends, whatever the meters of the language say. `"spin forever"` computes
 * without end, `"take all memory"` allocates without end, `"wait forever"` waits without end.
 */
import { MessagePort } from 'node:worker_threads'
import { bundleOf } from '../../dist/src/ground/platform/bundled.js'

const { on } = MessagePort.prototype

function spoil({ command }) {
  if (command?.cmd.includes('spin forever')) for (;;);
  if (command?.cmd.includes('wait forever')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  if (command?.cmd.includes('take all memory')) {
    const kept = []
    for (;;) kept.push(new Array(100_000).fill(Math.random()))
  }
}

MessagePort.prototype.on = function (event, listener) {
  return on.call(this, event, (message) => {
    spoil(message)
    listener(message)
  })
}
// The bundle loads faster; runs with coverage have none.
await import(bundleOf('execution-thread')?.href ?? '../../dist/src/devnet/execution/thread.js')
