/** Releases of the public node whose rules the embedded node supports. */
export const nodeReleases = ['3.2', '2.32'] as const
export type NodeRelease = (typeof nodeReleases)[number]
/** Release whose rules nodes follow by default. */
export const newestRelease: NodeRelease = '3.2'
