import {
  connect,
  InvalidOptionError,
  type ConnectOptions,
  type LoadModelOptions,
  type ModelReference,
  type ServerOptions,
  type TabserveClient,
} from '../client/index.ts';

/** Options of `useTabserve`: those of `connect`. */
export type HookOptions = ConnectOptions | ServerOptions;

/** A client begins with these, so that other values of them make another one. */
const FIRST = ['backend', 'hub', 'canLead'] as const satisfies readonly (keyof ConnectOptions)[];

/** The worker that runs loads these. */
const LATER = ['model', 'dtype', 'embedder', 'reranker'] as const satisfies readonly (keyof ConnectOptions)[];

const SERVER = [
  'server',
  'model',
  'embedder',
  'reranker',
  'apiKey',
] as const satisfies readonly (keyof ServerOptions)[];

/** A component's part in the client that it shares with others. */
export interface ClientUse {
  readonly connecting: Promise<TabserveClient>;
  /** Takes the options that the component gives now. */
  readonly follow: (options: HookOptions) => void;
  /** Gives the client up. It is closed in a microtask once nobody uses it. */
  readonly release: () => void;
}

type OnError = (error: Error | undefined) => void;

const clients = new Set<SharedClient>();

/** @throws InvalidOptionError for options that are none. */
export function checkHookOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  throw InvalidOptionError.of('options', 'an object with `worker` for useTabserve()', options);
}

/** Undefined and null are no client yet. @throws InvalidOptionError. */
export function checkClient(serve: unknown, called: string): void {
  if (serve === undefined || serve === null || typeof Object(serve).getHandle === 'function') return;
  throw InvalidOptionError.of('serve', `the client of useTabserve() for ${called}()`, serve);
}

/** Another key is another client: another app or server, or options with which a client begins. */
export function keyOf(options: HookOptions): string {
  return `${appOf(options)}\n${textsOf(options, FIRST)}`;
}

/**
 * Gives the components of an app one client. It begins with the options of the first; a component that leaves out what it began with
 * joins it too. One that is mounted anew at once, as in React's strict mode, finds it open.
 *
 * @param onError Gets why a changed option has no effect; undefined once a later change has one.
 */
export function shareClient(options: HookOptions, onError: OnError = () => {}): ClientUse {
  const client = findClient(options) ?? new SharedClient(options);
  clients.add(client);
  client.join(options, onError);
  let before = options;
  return {
    connecting: client.connecting,
    follow(now) {
      client.follow(before, now);
      before = now;
    },
    release() {
      client.leave(onError);
      queueMicrotask(() => closeUnused(client));
    },
  };
}

function findClient(options: HookOptions): SharedClient | undefined {
  const ofApp = [...clients].filter(({ app }) => app === appOf(options));
  const isLike = ({ first }: SharedClient): boolean => keyOf(first) === keyOf(options);
  return ofApp.find(isLike) ?? ofApp.find((client) => client.isUsed && client.begunAs(options));
}

function closeUnused(client: SharedClient): void {
  if (client.isUsed || !clients.delete(client)) return;
  // The callers of a failed `connect` have its error.
  client.connecting.then(
    (serve) => serve.close(),
    () => undefined,
  );
}

class SharedClient {
  readonly app: string;
  readonly first: HookOptions;
  readonly connecting: Promise<TabserveClient>;
  readonly #users = new Set<OnError>();
  /** Models as the components have asked for them last. */
  readonly #wanted: Map<string, unknown>;
  /** The last load for each option. */
  readonly #loads = new Map<string, object>();
  #worker: unknown;

  constructor(options: HookOptions) {
    this.app = appOf(options);
    this.first = options;
    this.#wanted = new Map(LATER.map((name) => [name, valueOf(options, name)]));
    this.connecting = connect(
      'worker' in options && typeof options.worker === 'function'
        ? { ...options, worker: () => this.#startWorker(options) }
        : options,
    );
  }

  get isUsed(): boolean {
    return this.#users.size > 0;
  }

  /** Whether the client began with what these options name. */
  begunAs(options: HookOptions): boolean {
    return FIRST.every((name) => [undefined, valueOf(this.first, name)].includes(valueOf(options, name)));
  }

  join(options: HookOptions, onError: OnError): void {
    const others = LATER.filter(
      (name) =>
        valueOf(options, name) !== undefined && !isSame(valueOf(options, name), this.#wanted.get(name)),
    );
    // A component takes the place of another one.
    if (!this.isUsed) this.#change(others, options);
    else
      for (const name of others)
        console.warn(
          `useTabserve(): another component has given another \`${name}\`, which counts. Give both the same.`,
        );
    this.#users.add(onError);
  }

  leave(onError: OnError): void {
    this.#users.delete(onError);
  }

  follow(before: HookOptions, now: HookOptions): void {
    this.#worker = valueOf(now, 'worker');
    // Components that get one value change together.
    const isNew = (name: (typeof LATER)[number]): boolean =>
      [valueOf(before, name), this.#wanted.get(name)].every((value) => !isSame(valueOf(now, name), value));
    this.#change(LATER.filter(isNew), now);
  }

  #startWorker({ worker }: ConnectOptions): Worker {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- WorkerScript checks what it returns
    return typeof this.#worker === 'function' ? (this.#worker() as Worker) : worker();
  }

  #change(names: readonly (typeof LATER)[number][], options: HookOptions): void {
    if (names.length === 0 || !('worker' in options)) return;
    for (const name of names) this.#wanted.set(name, options[name]);
    const { model = 'storyteller', dtype, embedder, reranker } = options;
    if (names.includes('model') || names.includes('dtype'))
      this.#load('model', model, { deployment: 'text-generator', dtype });
    if (names.includes('embedder')) this.#load('embedder', embedder, { deployment: 'embedder' });
    if (names.includes('reranker')) this.#load('reranker', reranker, { deployment: 'reranker' });
  }
  #load(name: string, model: ModelReference | null | undefined, options: LoadModelOptions): void {
    if (model === undefined || model === null) {
      const expected = 'a model, as before: the one that serves goes on';
      this.#tell(InvalidOptionError.of(name, expected, model));
      return;
    }
    const load = {};
    this.#loads.set(name, load);
    const end = (error?: Error): void => {
      // A later load has taken its place.
      if (this.#loads.get(name) === load) this.#tell(error);
    };
    this.connecting.then((serve) => serve.loadModel(model, options)).then(() => end(), end);
  }

  #tell(error: Error | undefined): void {
    for (const tell of this.#users) tell(error);
  }
}

/** A server's clients are alike if all of their options are. */
function appOf(options: HookOptions): string {
  return 'server' in options && options.server !== undefined
    ? textsOf(options, SERVER)
    : textsOf(options, ['name']);
}

/** For values of any kind: `connect` refuses those that can't be. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return ['object', 'symbol'].includes(typeof value) ? typeof value : String(value);
}

function textsOf(options: HookOptions, names: readonly string[]): string {
  return names.map((name) => textOf(valueOf(options, name))).join('\n');
}

function valueOf(options: HookOptions, name: string): unknown {
  return Reflect.get(options, name);
}

/** A list of files is often made anew at each render. */
function isSame(one: unknown, other: unknown): boolean {
  const areLists = Array.isArray(one) && Array.isArray(other) && one.length === other.length;
  return Object.is(one, other) || (areLists && one.every((item, at) => item === other[at]));
}
