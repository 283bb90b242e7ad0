import { multiplyRows } from './dots';

export function multiplyFloat(
  x: usize,
  xStride: i32,
  weights: usize,
  bias: usize,
  out: usize,
  outStride: i32,
  rows: i32,
  inputs: i32,
  first: i32,
  end: i32,
): void {
  multiplyRows(
    x,
    (<usize>xStride) << 2,
    weights,
    (<usize>inputs) << 2,
    bias,
    out,
    (<usize>outStride) << 2,
    rows,
    inputs,
    first,
    end,
  );
}
