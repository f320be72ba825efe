/** Releases of the live node whose rules the embedded node follows. */
export const nodeReleases = ['3.2', '2.32'] as const
export type NodeRelease = (typeof nodeReleases)[number]
