const SIZE = 8;

/** The gray values of a canvas, as the model reads them: 8 x 8, row after row. */
export function pixelsOf(canvas: HTMLCanvasElement): number[] {
  const context = new OffscreenCanvas(SIZE, SIZE).getContext('2d');
  if (!context) throw new Error('This browser has no 2D canvas.');
  context.drawImage(canvas, 0, 0, SIZE, SIZE);
  const { data } = context.getImageData(0, 0, SIZE, SIZE);
  return Array.from({ length: SIZE * SIZE }, (_, pixel) => data[4 * pixel] ?? 0);
}
