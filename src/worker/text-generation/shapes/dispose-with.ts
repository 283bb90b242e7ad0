const disposals = new FinalizationRegistry<() => void>((dispose) => dispose());

/** Frees memory of the library once an object is no longer in use. @param dispose May not hold the object. */
export function disposeWith(object: object, dispose: () => void): void {
  disposals.register(object, dispose);
}
