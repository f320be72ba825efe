/**
 * Sends transfers (transfers.ts) in its own process. The order is JSON on the command line, the result an IPC message.
 */
import { type LoadOrder, sendTransfers } from './transfers.ts'

process.send?.(await sendTransfers(JSON.parse(process.argv[2]) as LoadOrder))
process.disconnect()
