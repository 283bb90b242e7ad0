import type {
  ConnectOptions,
  GenerationOptions,
  LoadModelOptions,
  TabserveClient,
  TextGeneratorHandle,
} from '../index.ts';

/** The part of a client that a provider uses, whatever deployments its worker has. */
export interface TextClient extends Pick<TabserveClient, 'ready' | 'status' | 'loadModel'> {
  /** The handle of the text generator. */
  getHandle(name: 'text-generator'): TextGeneratorHandle;
}

/** A client, or the options of `connect`. With options, the first call connects. */
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
 * The generation options that a call may set as `providerOptions.tabserve`, because the AI SDK has no setting for them. If both are
 * set, the AI SDK's setting wins.
 */
export type TabserveCallOptions = Omit<GenerationOptions, 'n' | 'echo'>;
