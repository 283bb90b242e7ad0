/**
 * Address of a file of the embedded model; undefined if the model has no such file. Bundlers find the files by these literals, so each
 * is written out. An address is computed on demand, because a bundler may leave it out where the app doesn't use the model.
 */
export function embeddedFileUrl(name: string): string | undefined {
  switch (name) {
    case 'config.json':
      return new URL('../../../public/models/storyteller/config.json', import.meta.url).href;
    case 'generation_config.json':
      return new URL('../../../public/models/storyteller/generation_config.json', import.meta.url).href;
    case 'tokenizer.json':
      return new URL('../../../public/models/storyteller/tokenizer.json', import.meta.url).href;
    case 'tokenizer_config.json':
      return new URL('../../../public/models/storyteller/tokenizer_config.json', import.meta.url).href;
    case 'model.safetensors':
      return new URL('../../../public/models/storyteller/model.safetensors', import.meta.url).href;
    default:
      return undefined;
  }
}
