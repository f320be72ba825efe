/** The thread of a debugged transaction: the module next to this one, with the same extension. */
export const transactionThread = new URL(
  import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js',
  import.meta.url,
)

/** Name of the code of the transaction itself, among the texts of its modules. */
export const TRANSACTION_SOURCE = 'transaction'
