/** Dawn for Node. Not a dependency of this repository: README.md says how to install it for a run. */
declare module 'webgpu' {
  /** @param options Dawn's own, such as `adapter=name`. */
  export function create(options: readonly string[]): GPU;
  export const globals: Readonly<Record<string, unknown>>;
}
