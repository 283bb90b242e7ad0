import { scriptNotIsolated } from '../../protocol/errors/script-messages.ts';

export { scriptBlocked, scriptNotLoaded } from '../../protocol/errors/script-messages.ts';

/** What the server answers at the address of a script that couldn't be loaded. */
export interface ScriptAnswer {
  readonly text: string;
  /** Why no other try will succeed. */
  readonly refusal?: Error | undefined;
}

/** Makes a worker by the app's function, and asks for the script that it names: browsers don't tell its address. */
export function startObserved<Port>(
  createWorker: () => Port,
  onAnswer: (answer: ScriptAnswer) => void,
): Port {
  const { Worker: Native } = globalThis;
  globalThis.Worker = class extends Native {
    constructor(script: string | URL, options?: WorkerOptions) {
      super(script, options);
      const url = new URL(script, document.baseURI).href;
      onAnswer({ text: url });
      void askFor(url).then(onAnswer);
    }
  };
  try {
    return createWorker();
  } finally {
    globalThis.Worker = Native;
  }
}

async function askFor(url: string): Promise<ScriptAnswer> {
  try {
    const { ok, status, headers } = await fetch(url);
    const text = `${url} answers with the status ${status} and the type ${headers.get('content-type') ?? 'unknown'}`;
    const isRefused = ok && crossOriginIsolated && !headers.has('cross-origin-embedder-policy');
    return isRefused ? { text, refusal: scriptNotIsolated(url) } : { text };
  } catch {
    return { text: url };
  }
}
