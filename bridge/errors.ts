export type BridgeErrorCode = 'INVALID_ARGUMENT' | 'PORT_IN_USE' | 'PAGE_NOT_BUILT' | 'NO_HEADLESS_TAB';

/** A reason why the server cannot start; the message names the remedy. */
export class BridgeError extends Error {
  override readonly name = 'BridgeError';
  readonly code: BridgeErrorCode;

  constructor(code: BridgeErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  static portInUse(host: string, port: number, cause: unknown): BridgeError {
    const message = `Port ${port} on ${host} is in use: stop what listens there, or pass --port ${port + 1}.`;
    return new BridgeError('PORT_IN_USE', message, cause);
  }

  static pageNotBuilt(root: string): BridgeError {
    return new BridgeError(
      'PAGE_NOT_BUILT',
      `There is no index.html in ${root}: run \`npm run build\` first.`,
    );
  }

  static noHeadlessTab(cause: unknown): BridgeError {
    const message = `No browser without a window can be kept open: ${reasonOf(cause)}\nWithout --headless this uses yours.`;
    return new BridgeError('NO_HEADLESS_TAB', message, cause);
  }
}

/** What is said of a failure in a line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
