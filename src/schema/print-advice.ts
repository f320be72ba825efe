/** Advice for code that calls `print` on a network without it. */

/** The error of nodes for the unknown name `print`. In a namespace, they look for a module there. */
export const NO_PRINT = /^Cannot find module: (?:\S+\.)?print$/

export const PRINT_ADVICE = 'live networks have no print: leave it out, or try the code on newcut devnet --allow-print'
