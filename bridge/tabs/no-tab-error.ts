/** No open tab runs the model, and none has connected within the grace period. */
export class NoTabError extends Error {
  override readonly name = 'NoTabError';
  readonly code = 'NO_TAB';

  static at(url: string): NoTabError {
    return new NoTabError(
      `No open tab is running the model. Open ${url} in a browser and leave it open, or start Tabserve with --headless.`,
    );
  }
}
