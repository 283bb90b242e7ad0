const SIZE = 8;

/** A canvas as the model reads it: 8 x 8 gray values, row after row, each the mean of a square of pixels. */
export function pixelsOf(canvas: HTMLCanvasElement): number[] {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser has no 2D canvas.');
  const [width, height] = [canvas.width / SIZE, canvas.height / SIZE];
  return Array.from({ length: SIZE * SIZE }, (_, index) => {
    const [column, row] = [index % SIZE, Math.floor(index / SIZE)];
    const { data } = context.getImageData(column * width, row * height, width, height);
    const reds = data.filter((_value, at) => at % 4 === 0);
    return reds.reduce((sum, red) => sum + red, 0) / reds.length;
  });
}
