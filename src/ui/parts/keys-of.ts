/** The keys of an object, in its order. The object may have no keys beside those of its type. */
export function keysOf<Shape extends object>(shape: Shape): readonly Extract<keyof Shape, string>[] {
  const keys: Extract<keyof Shape, string>[] = [];
  for (const key in shape) keys.push(key);
  return keys;
}
