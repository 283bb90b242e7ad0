/** A browser that a test drives over its own protocol. */
export interface DrivenBrowser {
  /** Name and version, as the browser reports them. */
  readonly version: string;
  /** Opens a page in a new tab. */
  open(url: string): Promise<DrivenPage>;
  close(): Promise<void>;
}

export interface DrivenPage {
  /** Returns the value of an expression, or of its promise, as JSON carries it. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}
