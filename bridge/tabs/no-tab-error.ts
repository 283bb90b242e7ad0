/** No open tab runs the model, and none has connected within the grace period. */
export class NoTabError extends Error {
  override readonly name = 'NoTabError';
  readonly code = 'NO_TAB';

  /** @param isHeadless Whether the server has opened the page itself. */
  static at(url: string, isHeadless = false): NoTabError {
    if (isHeadless)
      return new NoTabError(
        `No tab is running the model: the page that --headless has opened isn't connected. Try again in a moment; if that doesn't help, open ${url} in a browser, whose console says what keeps it.`,
      );
    return new NoTabError(
      `No open tab is running the model. Open ${url} in a browser and leave it open, or start Tabserve with --headless.`,
    );
  }
}
