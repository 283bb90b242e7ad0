import type { ConnectOptions, GenerationOptions, LoadModelOptions, Serve } from '../client/index.ts';

/** A client that you have, or what `connect` takes: then the first call connects. */
export type TabserveOptions = (ConnectOptions | { readonly serve: Serve | Promise<Serve> }) & {
  /** How to load a model that a call names and that doesn't serve yet. */
  readonly load?: Omit<LoadModelOptions, 'signal'>;
};

/**
 * What a call may set as `providerOptions.tabserve`: generation options that the AI SDK has no setting for. Where both are
 * given, the AI SDK's setting counts.
 */
export type TabserveCallOptions = Omit<GenerationOptions, 'n' | 'echo'>;
