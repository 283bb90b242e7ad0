/** A custom property of tokens.css. */
export type ChartColor = `--${string}`;

/** The part of a chart that shows before its drawing code is loaded. Constant, so that the chart is created once. */
export interface ChartHead {
  readonly testId: string;
  readonly title: string;
  /** Says what the values are. */
  readonly subtitle: string;
  readonly emptyText: string;
  /** The chart shows the batches of this deployment, in place of the text generator's run. */
  readonly deployment?: string;
  /** It shows steps or slots, which a server doesn't report. */
  readonly needsEngine?: boolean;
  /** The first one is the most important: a strip shows its value alone. */
  readonly lines: readonly LineStyle[];
}

export interface LineStyle {
  readonly label: string;
  readonly color: ChartColor;
  readonly dash?: number[];
  /** How it is drawn; a line unless said otherwise. */
  readonly mark?: 'bar' | 'point';
}
