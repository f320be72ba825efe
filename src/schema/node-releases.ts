/** Releases of the public node whose rules the embedded node supports. */
export const nodeReleases = ['3.2', '2.32'] as const
export type NodeRelease = (typeof nodeReleases)[number]
