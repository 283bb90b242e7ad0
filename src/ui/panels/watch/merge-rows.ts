/** The longest time whose rows are drawn as one, so that a row is as wide as a pixel. */
interface PixelGrid {
  /** The time of the first pixel; constant, so that rows keep their neighbors while the axis moves. */
  readonly originMs: number;
  readonly pixelMs: number;
}

/** The rows, oldest first, of each pixel. */
export function groupByPixel<Row extends { readonly endedAtMs: number }>(
  rows: readonly Row[],
  { originMs, pixelMs }: PixelGrid,
): readonly (readonly [Row, ...Row[]])[] {
  const groups: [Row, ...Row[]][] = [];
  let pixel: number | undefined;
  for (const row of rows) {
    const own = Math.floor((row.endedAtMs - originMs) / pixelMs);
    if (own === pixel) groups.at(-1)?.push(row);
    else groups.push([row]);
    pixel = own;
  }
  return groups;
}

/** At most two rows for each pixel, its lowest and its highest one; all of them where there are no more. */
export function keepExtremes<Row extends { readonly endedAtMs: number }>(
  rows: readonly Row[],
  valueOf: (row: Row) => number,
  grid: PixelGrid,
): readonly Row[] {
  return groupByPixel(rows, grid).flatMap((group) => {
    let [low, high] = [0, 0];
    for (const [index, row] of group.entries()) {
      if (valueOf(row) < valueOf(group[low] ?? row)) low = index;
      if (valueOf(row) > valueOf(group[high] ?? row)) high = index;
    }
    return [...new Set([Math.min(low, high), Math.max(low, high)])].flatMap((index) => group[index] ?? []);
  });
}
