/** Re-exports the used parts of prom-client, which the build bundles into one file (scripts/build/bundle.js). */
export { Counter, Gauge, Histogram, Registry } from 'prom-client'
