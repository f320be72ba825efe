/** How long a node or pool of higher priority has to be fit, unless the setup says otherwise. */
export const FAILBACK_MS = 60_000
