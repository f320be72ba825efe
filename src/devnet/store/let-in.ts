/** Commands in blocks that are valid only because the owner of this node let them in. */

/** How a command was let in: by impersonation of a signer, or as an order that runs with privileges. */
export type LetIn = 'unsigned' | 'privileged'

/** Request key -> how the command was let in. It only grows. */
export type LetInKeys = ReadonlyMap<string, LetIn>
