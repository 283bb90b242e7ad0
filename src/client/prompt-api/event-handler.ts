type Handler = (event: Event) => unknown;

/** An event handler attribute such as `oncontextoverflow`. It holds at most one listener. */
export class EventHandler {
  readonly #target: EventTarget;
  readonly #type: string;
  #handler: Handler | null = null;

  constructor(target: EventTarget, type: string) {
    this.#target = target;
    this.#type = type;
  }

  get handler(): ((event: Event) => unknown) | null {
    return this.#handler;
  }

  /** A value that isn't a function removes the handler. */
  set handler(value: unknown) {
    this.#target.removeEventListener(this.#type, this.#listen);
    this.#handler = isHandler(value) ? value : null;
    if (this.#handler) this.#target.addEventListener(this.#type, this.#listen);
  }

  readonly #listen = (event: Event): void => {
    this.#handler?.call(this.#target, event);
  };
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}
