/**
 * An execution thread in which some code never ends, whatever the meters of the language say. `"spin forever"` computes
 * without end, `"take all memory"` allocates without end.
 */
import { MessagePort } from 'node:worker_threads'

const { on } = MessagePort.prototype

function spoil({ command }) {
  if (command?.cmd.includes('spin forever')) for (;;);
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
await import('../../dist/src/devnet/execution/thread.js')
