import type {
  ConnectOptions,
  GenerationOptions,
  LoadModelOptions,
  TabserveClient,
  TextGeneratorHandle,
} from '../index.ts';

/** What a provider calls of a client, whatever deployments its worker has. */
export interface TextClient extends Pick<TabserveClient, 'ready' | 'status' | 'loadModel'> {
  /** The handle of the text generator. */
  getHandle(name: 'text-generator'): TextGeneratorHandle;
}

/** A client that you have, or what `connect` takes: then the first call connects. */
export type TabserveOptions = (
  | ConnectOptions
  | {
      /** A connected client, or a promise of one. */
      readonly serve: TextClient | Promise<TextClient>;
    }
) & {
  /** How to load a model that a call names and that doesn't serve yet. */
  readonly load?: Omit<LoadModelOptions, 'signal'>;
};

/**
 * What a call may set as `providerOptions.tabserve`: generation options that the AI SDK has no setting for. Where both are
 * given, the AI SDK's setting counts.
 */
export type TabserveCallOptions = Omit<GenerationOptions, 'n' | 'echo'>;
