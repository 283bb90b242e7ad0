import { shown } from '../../batching/base/errors.ts';
import { HttpError } from './http-error.ts';

/** The calls of a chat whose results haven't come, as its parts are read in order. */
export class OpenCalls {
  /** Places of the calls in the body by ID. */
  readonly #open = new Map<string, string>();

  /** @throws HttpError 400 for an ID that another open call has. */
  add(place: string, id: string): void {
    if (this.#open.has(id)) throw HttpError.expected(place, 'an ID that no other call has', id);
    this.#open.set(id, place);
  }

  /** @throws HttpError 400 for an ID that no open call has. */
  answer(place: string, id: string): void {
    if (!this.#open.delete(id))
      throw HttpError.expected(place, 'the ID of a call before that has no other result', id);
  }

  /** @param remedy What has to follow a call, as in "send … for it". @throws HttpError 400 for a call without its result. */
  checkAnswered(remedy: string): void {
    for (const [id, place] of this.#open)
      throw HttpError.invalid(
        place,
        `\`${place}\` is \`${shown(id)}\`, a call without a result: send ${remedy} for it.`,
      );
  }
}
