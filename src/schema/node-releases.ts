/** Releases of the public node whose rules the embedded node supports. A preview has the rules of the next one, as far as they are known. */
export const nodeReleases = ['3.2', '2.32', '3.3-preview'] as const
export type NodeRelease = (typeof nodeReleases)[number]
/** Release whose rules nodes follow by default. */
export const newestRelease: NodeRelease = '3.2'
