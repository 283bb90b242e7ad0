// The package's entry `tabserve/react`.
export { useGeneration, type Generation } from './use-generation.ts';
export { useStats } from './use-stats.ts';
export { useTabserve, type Tabserve } from './use-tabserve.ts';
