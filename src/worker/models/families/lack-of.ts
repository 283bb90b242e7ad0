/** Missing features by patterns of `model_type`, for models that don't run here. The first that matches counts. */
const LACKS: readonly (readonly [RegExp, string])[] = [
  [/^gemma4/, 'Gemma 4 has embeddings of its own for each layer, and layers that share keys'],
  [/^(?:clip|siglip|vit|dinov|sam|detr|yolos|segformer|swin)/, 'they read pictures and write no text'],
  [/whisper|wav2vec|speech|audio|voxtral/, 'they read sound'],
  [
    /_?vl_?|vision|llava|idefics|smolvlm|paligemma|pixtral|internvl|^gemma3n?$/,
    'they read pictures, and their text model is not read by itself',
  ],
  [/moe|mixtral|gpt_oss|deepseek|olmoe|llama4|kimi|minimax|glm4_5/, 'their MLPs are mixtures of experts'],
  [
    /mamba|jamba|zamba|falcon_h1|bamba|nemotron_h|rwkv/,
    'their layers keep a state that is not computed here',
  ],
  [/^(?:t5|mt5|bart|mbart|pegasus|m2m|marian|nllb)/, 'they have an encoder and a decoder'],
];

/** @returns Empty where nothing is known of such models. */
export function lackOf(modelType: string): string {
  return LACKS.find(([pattern]) => pattern.test(modelType))?.[1] ?? '';
}
