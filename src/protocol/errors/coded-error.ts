/** The longest part of a message that quotes a hub, a folder or a chat template. */
export const MAX_DETAIL = 300;

/**
 * The base of an error class whose `code` is the same in every version of the page. The name is given too, because the built
 * page shortens the names of classes.
 */
export function codedError<Code extends string>(name: string, code: Code) {
  return class extends Error {
    override readonly name = name;
    /** Stable: compare this, not the message. */
    readonly code = code;
  };
}
