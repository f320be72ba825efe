/** The process that sends transfers (transfers.ts): its order is JSON on the command line, its result a message. */
import { type LoadOrder, sendTransfers } from './transfers.ts'

process.send?.(await sendTransfers(JSON.parse(process.argv[2]) as LoadOrder))
process.disconnect()
